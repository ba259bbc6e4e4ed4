// product_source: what the preludes and arguments of all kernels for products of two operands have in common.
#include "runtime/product_source.hpp"

#include "lowering/cost_model.hpp"
#include "lowering/families.hpp"
#include "lowering/gathers.hpp"
#include "lowering/lane_ring_layout.hpp"
#include "lowering/panel_shifts.hpp"
#include "lowering/tree.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ricci::runtime {

using namespace lowering;
using enum axis_class;

product_source::product_source(const step& st, const machine& chip)
    : st_(st), chip_(chip), cuda_(chip.kind == target::cuda) {
    const auto c = std::int32_t{0};
    m_ = group(m, {c, st.x});
    n_ = group(n, {c, st.y});
    k_ = group(k, {st.x, st.y});
    batch_ = group(batch, {c, st.x, st.y});
    products_ = extent_of(st, batch);
    write_shared_constants();
    shared_text_ = text_;
    pack_arguments();
}

void product_source::write_tile(std::int32_t threads) {
    const auto& t = st_.batched;
    text_.constant("products_per_block", t.products);
    text_.constant("threads_per_block", threads);
    text_.constant("tile_m", t.tile_m);
    text_.constant("tile_n", t.tile_n);
    text_.constant("k_unrolled", t.k_unrolled);
    text_.constant("core", static_cast<std::int64_t>(t.core));
    text_.flag("rows_first", t.rows_first);
    text_.flag("skewed", t.skewed);
    text_.flag("c_transposed", t.c_transposed);
    text_.constant("rows_of_f64", t.rows_of_16 ? 16 : 8);
    text_.flag("rounds_to_tf32", st_.math == math_mode::tf32 && t.core == batched_core::mma);
}

void product_source::write_fragments(fragment_load fragments, std::int32_t k_apart, bool columns_apart) {
    text_.constant("fragments", static_cast<std::int64_t>(fragments));
    text_.constant("k_apart", k_apart);
    text_.flag("columns_apart", columns_apart);
}

void product_source::write_panels(const panel_layout& layout, std::int64_t interleaved) {
    const auto& t = st_.batched;
    text_.flag("always_aligned", true);
    write_fragments(layout.fragments, layout.fragments == fragment_load::fours ? 1 : t.k_apart, false);
    text_.constant("columns_of_block", t.panel);
    text_.constant("k_panel", t.k_panel);
    auto row = layout.row, column = layout.column;
    column[1] *= interleaved, row[2] *= interleaved;
    text_.list("row", narrow(row));
    text_.list("column", narrow(column));
    text_.list("region", narrow(layout.region));
    text_.list("pitch", narrow(layout.pitch));
    text_.list("lines", std::array<std::int32_t, 3>{0, static_cast<std::int32_t>(layout.lines[1]),
                                                    static_cast<std::int32_t>(layout.lines[2])});
}

void product_source::write_stages(std::int64_t stages, std::int64_t stage_bytes) {
    text_.constant("stages", stages);
    text_.constant("stage_bytes", stage_bytes);
}

std::array<std::int32_t, 3> product_source::narrow(const std::array<std::int64_t, 3>& values) {
    return {static_cast<std::int32_t>(values[0]), static_cast<std::int32_t>(values[1]),
            static_cast<std::int32_t>(values[2])};
}

void product_source::finish(std::string_view name) {
    out_.source = complete_source(text_.text(), fmt::format("{}{}", name, cuda_ ? ".cuh" : "_cpu.hpp"));
    out_.entry = fmt::format("ricci_{}", name);
}

kernel_request product_source::take_request() {
    const double seconds = (cost_model(st_, chip_).seconds - chip_.launch_seconds) * chip_.processors;
    out_.words[blocks_word_] = static_cast<std::uint64_t>(out_.shape.grid);
    out_.shape.seconds_per_block = seconds / static_cast<double>(std::max<std::int64_t>(out_.shape.grid, 1));
    return std::move(out_);
}

const operand& product_source::at(std::int32_t o) const { return st_.operands[static_cast<std::size_t>(o)]; }

product_source::axis_group product_source::group(axis_class c, std::initializer_list<std::int32_t> operands) const {
    axis_group out;
    const auto axes = axes_of(st_, c);
    for (const auto a : axes) out.extent.push_back(st_.axes[static_cast<std::size_t>(a)].extent);
    for (const auto o : operands) {
        auto& row = out.stride.emplace_back();
        for (const auto a : axes) row.push_back(at(o).stride[static_cast<std::size_t>(a)]);
    }
    return out;
}

std::vector<std::vector<std::int64_t>>
product_source::constant_strides(const axis_group& g, std::initializer_list<std::int32_t> operands) const {
    auto out = g.stride;
    auto row = out.begin();
    for (const auto o : operands) {
        const auto least = least_changing_stride(st_, o);
        for (auto& s : *row)
            if (std::abs(s) >= least || (serves_many() && s != 1)) s = argument;
        ++row;
    }
    return out;
}

std::vector<std::int64_t> product_source::constant_extents(axis_class c, const axis_group& g) const {
    return is_long(st_, c) || serves_many() ? std::vector<std::int64_t>(g.extent.size(), argument) : g.extent;
}

void product_source::write_shared_constants() {
    text_.constant("compute_type", static_cast<std::int64_t>(st_.compute));
    text_.constant("c_type", static_cast<std::int64_t>(at(0).type));
    text_.constant("x_type", static_cast<std::int64_t>(at(st_.x).type));
    text_.constant("y_type", static_cast<std::int64_t>(at(st_.y).type));
    text_.flag("x_conjugated", st_.x_conjugated);
    text_.flag("y_conjugated", st_.y_conjugated);
    text_.flag("accumulate", st_.op != assignment::assign);
    // A CPU's tall_skinny_atb stores plain sums: the step that adds up the chunks scales.
    matrix_product product;
    is_matrix_product(st_.nodes, static_cast<std::int32_t>(st_.nodes.size()) - 1, product);
    const bool plain = st_.kernel == family::tall_skinny_atb && !cuda_;
    if (!plain && product.coefficient >= 0) out_.coefficient = subtree(st_.nodes, product.coefficient);
    text_.flag("scaled", !out_.coefficient.empty());
    if (!plain) out_.beta = st_.beta;
    text_.flag("c_scaled", !out_.beta.empty());
    text_.flag("negative", !plain && product.negative != (st_.op == assignment::subtract));
    text_.constant("m_axes", static_cast<std::int64_t>(m_.extent.size()));
    text_.constant("n_axes", static_cast<std::int64_t>(n_.extent.size()));
    text_.constant("k_axes", static_cast<std::int64_t>(k_.extent.size()));
    text_.constant("batch_axes", static_cast<std::int64_t>(batch_.extent.size()));
    std::array<std::int32_t, 3> table_types{-1, -1, -1};
    for (int o = 0; o < 3; ++o)
        if (const auto* table = table_of(o))
            table_types[static_cast<std::size_t>(o)] = static_cast<std::int32_t>(table->type);
    text_.constant("box_maps", box_maps());
    text_.list("table_type", table_types);
    text_.wide_list("m_extent", constant_extents(m, m_));
    text_.wide_list("n_extent", constant_extents(n, n_));
    text_.wide_list("k_extent", constant_extents(k, k_));
    text_.wide_table("m_stride", constant_strides(m_, {0, st_.x}));
    text_.wide_table("n_stride", constant_strides(n_, {0, st_.y}));
    text_.wide_table("k_stride", constant_strides(k_, {st_.x, st_.y}));
}

void product_source::pack_arguments() {
    argument_packer pack(out_);
    if (box_maps() > 0) pack_boxes(pack);
    if (is_gathered(st_)) pack_tables(pack);
    first_address_ = static_cast<std::int32_t>(out_.words.size());
    pack.address(at(0));
    pack.address(at(st_.x));
    pack.address(at(st_.y));
    pack.patch(argument_patch::value::coefficient_real, 0);
    pack.patch(argument_patch::value::coefficient_imaginary, 0);
    pack.patch(argument_patch::value::beta_real, 0);
    pack.patch(argument_patch::value::beta_imaginary, 0);
    if (st_.workspace.source < 0) pack.patch(argument_patch::value::address, st_.workspace.source);
    else pack.number(0);
    pack.number(products_);
    blocks_word_ = out_.words.size();
    pack.number(0); // the blocks, known last
    pack.number(0); // and a block's share
    for (const auto* g : {&m_, &n_, &k_}) pack.numbers(g->extent);
    for (const auto* g : {&m_, &n_, &k_})
        for (const auto& row : g->stride) pack.numbers(row);
    pack.numbers(batch_.extent);
    for (const auto& row : batch_.stride) pack.numbers(row);
    constexpr std::size_t alignment = 8; // words, of the kernel's struct where it has boxes
    while (box_maps() > 0 && out_.words.size() % alignment != 0) pack.number(0);
}

void product_source::pack_boxes(argument_packer& pack) {
    const auto maps = static_cast<std::size_t>(box_maps()) * words_of_boxes;
    out_.boxes_word = static_cast<std::int32_t>(maps);
    while (out_.words.size() < maps + 8) pack.number(0);
}

int product_source::box_maps() const {
    if (st_.kernel == family::tall_skinny_atb && st_.batched.realigned) return shifted_panel_maps;
    if (!st_.batched.boxed) return 0;
    return st_.kernel == family::batched_lanes && is_shifted(st_.batched) ? shifted_maps : 3;
}

void product_source::add_boxes(int o, const box_layout& layout) { add_boxes(o, o, layout); }
void product_source::add_boxes(int map, int o, const box_layout& layout) {
    out_.boxes.push_back({static_cast<std::int32_t>(static_cast<std::size_t>(map) * words_of_boxes),
                          first_address_ + o, layout});
}

const operand* product_source::table_of(int o) const {
    const auto& gathers = operand_of(st_, o).gathers;
    return gathers.empty() ? nullptr : &at(gathers.front().table);
}

void product_source::pack_tables(argument_packer& pack) {
    for (int o = 0; o < 3; ++o) {
        if (const auto* table = table_of(o)) pack.address(*table);
        else pack.number(0);
    }
    for (int o = 0; o < 3; ++o) pack.number(table_of(o) == nullptr ? 0 : operand_of(st_, o).gathers.front().stride);
    for (int o = 0; o < 3; ++o) {
        std::vector<std::int64_t> steps;
        for (const auto a : axes_of(st_, batch))
            steps.push_back(table_of(o) == nullptr ? 0 : table_of(o)->stride[static_cast<std::size_t>(a)]);
        pack.numbers(steps);
    }
}

} // namespace ricci::runtime
