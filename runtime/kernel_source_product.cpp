// kernel_source_product: the preludes and arguments of the kernels for products of two operands.
#include "runtime/kernel_source_families.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/batched_model.hpp"
#include "lowering/cost_model.hpp"
#include "lowering/families.hpp"
#include "lowering/gathers.hpp"
#include "lowering/lanes_model.hpp"
#include "lowering/stationary_model.hpp"
#include "lowering/tall_skinny_ab_layout.hpp"
#include "lowering/tall_skinny_atb_layout.hpp"
#include "lowering/tree.hpp"
#include "runtime/nvrtc_compiler.hpp"
#include "runtime/prelude.hpp"

#include <array>
#include <cstdlib>

namespace ricci::runtime {
namespace {

using namespace lowering;
using enum axis_class;

/// The axes that make up m, n, k or the batch, and how the operands step along them.
struct axis_group {
    std::vector<std::int64_t> extent;
    std::vector<std::vector<std::int64_t>> stride; ///< one row per operand that has the axes
};

class product_source {
  public:
    product_source(const step& st, const machine& chip) : st_(st), chip_(chip), cuda_(chip.kind == target::cuda) {
        const auto c = std::int32_t{0};
        m_ = group(m, {c, st.x});
        n_ = group(n, {c, st.y});
        k_ = group(k, {st.x, st.y});
        batch_ = group(batch, {c, st.x, st.y});
        products_ = extent_of(st, batch);
    }

    kernel_request make() {
        write_shared_constants();
        pack_arguments();
        const double seconds = (cost_model(st_, chip_).seconds - chip_.launch_seconds) * chip_.processors;
        switch (st_.kernel) {
        case family::batched_small: make_batched_small(); break;
        case family::batched_lanes: make_batched_lanes(); break;
        case family::batched_panels: make_batched_panels(); break;
        case family::batched_stationary: make_batched_stationary(); break;
        case family::tall_skinny_atb: make_tall_skinny_atb(); break;
        default: make_tall_skinny_ab(); break;
        }
        out_.words[blocks_word_] = static_cast<std::uint64_t>(out_.shape.grid);
        out_.shape.seconds_per_block = seconds / static_cast<double>(std::max<std::int64_t>(out_.shape.grid, 1));
        return std::move(out_);
    }

  private:
    const operand& at(std::int32_t o) const { return st_.operands[static_cast<std::size_t>(o)]; }

    axis_group group(axis_class c, std::initializer_list<std::int32_t> operands) const {
        axis_group out;
        const auto axes = axes_of(st_, c);
        for (const auto a : axes) out.extent.push_back(st_.axes[static_cast<std::size_t>(a)].extent);
        for (const auto o : operands) {
            auto& row = out.stride.emplace_back();
            for (const auto a : axes) row.push_back(at(o).stride[static_cast<std::size_t>(a)]);
        }
        return out;
    }

    bool is_long(axis_class c) const {
        return (st_.kernel == family::tall_skinny_atb && c == k) || (st_.kernel == family::tall_skinny_ab && c == m);
    }

    /// A stride is a constant unless an axis whose extent may change (the batch, the long axis) lies within it: of a
    /// batch of one it may be as long as that axis's own.
    std::vector<std::vector<std::int64_t>> constant_strides(const axis_group& g,
                                                            std::initializer_list<std::int32_t> operands) const {
        auto out = g.stride;
        auto row = out.begin();
        for (const auto o : operands) {
            std::int64_t nearest = INT64_MAX; // the least that lies beyond such an axis
            for (std::size_t a = 0; a < st_.axes.size(); ++a)
                if (const auto s = std::abs(at(o).stride[a]);
                    s != 0 && (st_.classes[a] == batch || is_long(st_.classes[a])))
                    nearest = std::min(nearest, st_.axes[a].extent == 1 ? s : s + 1);
            for (const auto& g : at(o).gathers)
                if (g.stride != 0) nearest = std::min(nearest, std::abs(g.stride) + 1);
            for (auto& s : *row)
                if (std::abs(s) >= nearest) s = argument;
            ++row;
        }
        return out;
    }

    std::vector<std::int64_t> constant_extents(axis_class c, const axis_group& g) const {
        return is_long(c) ? std::vector<std::int64_t>(g.extent.size(), argument) : g.extent;
    }

    void write_shared_constants() {
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
        text_.flag("negative", !plain && product.negative != (st_.op == assignment::subtract));
        text_.constant("m_axes", static_cast<std::int64_t>(m_.extent.size()));
        text_.constant("n_axes", static_cast<std::int64_t>(n_.extent.size()));
        text_.constant("k_axes", static_cast<std::int64_t>(k_.extent.size()));
        text_.constant("batch_axes", static_cast<std::int64_t>(batch_.extent.size()));
        std::array<std::int32_t, 3> table_types{-1, -1, -1};
        for (int o = 0; o < 3; ++o)
            if (const auto* table = table_of(o))
                table_types[static_cast<std::size_t>(o)] = static_cast<std::int32_t>(table->type);
        text_.list("table_type", table_types);
        text_.wide_list("m_extent", constant_extents(m, m_));
        text_.wide_list("n_extent", constant_extents(n, n_));
        text_.wide_list("k_extent", constant_extents(k, k_));
        text_.wide_table("m_stride", constant_strides(m_, {0, st_.x}));
        text_.wide_table("n_stride", constant_strides(n_, {0, st_.y}));
        text_.wide_table("k_stride", constant_strides(k_, {st_.x, st_.y}));
    }

    void pack_arguments() {
        argument_packer pack(out_);
        if (is_gathered(st_)) pack_tables(pack);
        pack.address(at(0));
        pack.address(at(st_.x));
        pack.address(at(st_.y));
        pack.patch(argument_patch::value::coefficient_real, 0);
        pack.patch(argument_patch::value::coefficient_imaginary, 0);
        if (st_.workspace.source < 0) pack.patch(argument_patch::value::address, st_.workspace.source);
        else pack.number(0);
        pack.patch(argument_patch::value::launch_number, 0);
        pack.number(products_);
        blocks_word_ = out_.words.size();
        pack.number(0); // the blocks, known below
        pack.number(0); // and a block's share
        for (const auto* g : {&m_, &n_, &k_}) pack.numbers(g->extent);
        for (const auto* g : {&m_, &n_, &k_})
            for (const auto& row : g->stride) pack.numbers(row);
        pack.numbers(batch_.extent);
        for (const auto& row : batch_.stride) pack.numbers(row);
    }

    /// Of C, X or Y.
    const operand* table_of(int o) const {
        const auto& gathers = operand_of(st_, o).gathers;
        return gathers.empty() ? nullptr : &at(gathers.front().table);
    }

    void pack_tables(argument_packer& pack) {
        for (int o = 0; o < 3; ++o) {
            if (const auto* table = table_of(o)) pack.address(*table);
            else pack.number(0);
        }
        for (int o = 0; o < 3; ++o)
            pack.number(table_of(o) == nullptr ? 0 : operand_of(st_, o).gathers.front().stride);
        for (int o = 0; o < 3; ++o) {
            std::vector<std::int64_t> steps;
            for (const auto a : axes_of(st_, batch))
                steps.push_back(table_of(o) == nullptr ? 0 : table_of(o)->stride[static_cast<std::size_t>(a)]);
            pack.numbers(steps);
        }
    }

    /// 0 the rows, 1 the columns, 2 the batch: along which an operand's elements lie nearest.
    static int fastest(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns,
                       const std::vector<std::int64_t>& batches) {
        const auto nearest = [](const std::vector<std::int64_t>& strides) {
            std::int64_t best = INT64_MAX;
            for (const auto s : strides)
                if (s != 0) best = std::min(best, std::abs(s));
            return best;
        };
        const auto r = nearest(rows), c = nearest(columns), b = nearest(batches);
        return b < r && b < c ? 2 : r <= c ? 0 : 1;
    }

    void make_batched_small() {
        if (!cuda_) {
            finish("batched_small");
            out_.shape.grid = products_;
            return;
        }
        const auto& t = st_.batched;
        const auto layout = batched_layout_of(st_, t);
        write_tile();
        write_layout(layout, t.products);
        text_.flag("always_aligned",
                   layout.realigned || (layout.operands[1].line > 0 && layout.operands[2].line > 0));
        write_fragments(layout.realigned ? fragment_load::matrices : span_fragments(st_, layout), t.k_apart);
        text_.constant("rows_of_block", extent_of(st_, m));
        text_.constant("columns_of_block", extent_of(st_, n));
        finish("batched_small");
        const auto share = batched_share(products_, t, chip_);
        out_.words[blocks_word_ + 1] = static_cast<std::uint64_t>(share);
        out_.shape.grid = (products_ + share - 1) / share;
        out_.shape.threads = t.threads;
        out_.shape.shared_bytes = static_cast<int>(batched_shared_bytes(st_, layout, t.products));
    }

    void make_batched_lanes() {
        const auto& t = st_.batched;
        out_.shape.grid = lanes_blocks(st_, t);
        text_.constant("blocks_of_an_sm", lanes_resident_blocks(st_, t, chip_));
        out_.shape.threads = t.threads;
        if (!has_panels(t)) {
            text_.constant("threads_per_block", t.threads);
            return finish("batched_lanes");
        }
        const auto layout = lanes_layout_of(st_, t);
        write_tile();
        text_.constant("products_per_thread", t.thread_products);
        text_.constant("rows_of_block", layout.rows);
        text_.constant("columns_of_block", layout.columns);
        text_.constant("row_blocks", layout.row_blocks);
        text_.constant("column_blocks", layout.column_blocks);
        text_.constant("k_panel", t.k_panel);
        text_.constant("stages", t.stages);
        text_.constant("stage_bytes", layout.stage_bytes);
        text_.list("lines", narrow(layout.lines));
        text_.list("for_all", std::array<std::int32_t, 3>{0, layout.for_all[1], layout.for_all[2]});
        text_.list("pitch", narrow(layout.pitch));
        text_.list("region", narrow(layout.region));
        finish("batched_lane_panels");
        out_.shape.shared_bytes = static_cast<int>(lanes_shared_bytes(st_, t));
    }

    void make_batched_panels() {
        const auto& t = st_.batched;
        const auto layout = panel_layout_of(st_, t);
        const auto column_blocks = (extent_of(st_, n) + t.panel - 1) / t.panel;
        write_tile();
        write_panels(layout, 1);
        text_.constant("rows_of_block", extent_of(st_, m));
        write_stages(layout);
        text_.constant("column_blocks", column_blocks);
        text_.flag("c_along_rows", fastest(m_.stride[0], n_.stride[0], {}) == 0);
        finish("batched_panels");
        out_.shape.grid = products_ * column_blocks;
        out_.shape.threads = t.threads;
        out_.shape.shared_bytes = static_cast<int>(t.stages * layout.stage_bytes);
    }

    void make_batched_stationary() {
        const auto& t = st_.batched;
        const auto layout = stationary_layout_of(st_, t);
        write_tile();
        text_.constant("k_apart", t.k_apart);
        text_.constant("row_warps", stationary_row_warps(st_, t));
        const auto warps = stationary_warps_of(st_, t);
        const auto registers = stationary_registers_of(st_, t, chip_);
        text_.constant("compute_warps", warps.compute);
        text_.constant("load_warps", warps.load);
        text_.constant("fragment_warps", warps.fragment);
        text_.constant("compute_registers", registers.compute);
        text_.constant("helper_registers", registers.helper);
        text_.flag("has_fragments", t.realigned);
        text_.flag("warpgroups", t.warpgroups);
        text_.flag("x_is_split", stationary_splits_x_once(st_, t, chip_));
        text_.list("along_k", std::array<std::int32_t, 3>{0, layout.along_k[1], layout.along_k[2]});
        text_.list("is_run", std::array<std::int32_t, 3>{layout.is_run[0], layout.is_run[1], layout.is_run[2]});
        text_.list("pitch", narrow(layout.pitch));
        text_.list("region", narrow(layout.region));
        text_.constant("columns_of_slice", t.panel);
        text_.constant("lines_of_slice", t.k_panel);
        text_.constant("stages", t.stages);
        text_.constant("stage_bytes", layout.stage_bytes);
        text_.constant("barrier_bytes", stationary_barrier_bytes(t));
        text_.flag("x_for_all", stationary_x_is_for_all(st_));
        text_.constant("blocks_of_an_sm", stationary_resident_blocks(st_, t, chip_));
        finish("batched_stationary");
        if (registers.compute > 0 || t.warpgroups) out_.source.insert(0, architecture_specific_marker);
        out_.shape.grid = stationary_blocks(st_, t, chip_);
        out_.shape.threads = t.threads;
        out_.shape.shared_bytes = static_cast<int>(stationary_shared_bytes(st_, t));
    }

    /// `interleaved`: how many slices take turns at a panel's steps.
    void write_panels(const panel_layout& layout, std::int64_t interleaved) {
        const auto& t = st_.batched;
        text_.flag("always_aligned", true);
        write_fragments(layout.fragments, layout.fragments == fragment_load::fours ? 1 : t.k_apart);
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

    void write_stages(const panel_layout& layout) {
        text_.constant("stages", st_.batched.stages);
        text_.constant("stage_bytes", layout.stage_bytes);
    }

    static std::array<std::int32_t, 3> narrow(const std::array<std::int64_t, 3>& values) {
        return {static_cast<std::int32_t>(values[0]), static_cast<std::int32_t>(values[1]),
                static_cast<std::int32_t>(values[2])};
    }

    void write_tile() {
        const auto& t = st_.batched;
        text_.constant("products_per_block", t.products);
        text_.constant("threads_per_block", st_.kernel == family::tall_skinny_atb ? atb_threads(st_, t) : t.threads);
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

    /// For the tensor cores.
    void write_fragments(fragment_load fragments, std::int32_t k_apart) {
        text_.constant("fragments", static_cast<std::int64_t>(fragments));
        text_.constant("k_apart", k_apart);
    }

    void write_layout(const batched_layout& layout, std::int64_t products) {
        std::array<std::int32_t, 3> is_span{}, is_run{}, lines{}, slots{}, rows{}, columns{}, lengths{}, nearest{};
        const auto regions = regions_of(st_, layout, products);
        for (std::size_t o = 0; o < 3; ++o) {
            const auto& staged = layout.operands[o];
            is_span[o] = staged.is_span, is_run[o] = staged.is_run;
            lines[o] = static_cast<std::int32_t>(staged.line);
            slots[o] = static_cast<std::int32_t>(staged.slot);
            rows[o] = static_cast<std::int32_t>(staged.row), columns[o] = static_cast<std::int32_t>(staged.column);
            lengths[o] = static_cast<std::int32_t>(staged.length);
        }
        nearest = {fastest(m_.stride[0], n_.stride[0], batch_.stride[0]),
                   fastest(m_.stride[1], k_.stride[0], batch_.stride[1]),
                   fastest(k_.stride[1], n_.stride[1], batch_.stride[2])};
        text_.list("is_span", is_span);
        text_.list("is_run", is_run);
        text_.list("line", lines);
        text_.flag("c_is_dense", layout.c_is_dense);
        text_.list("slot", slots);
        text_.list("row", rows);
        text_.list("column", columns);
        text_.list("length", lengths);
        text_.list("region", narrow(regions.staged));
        text_.list("fastest", nearest);
        text_.constant("places", regions.end);
        text_.constant("all_steps", layout.all_steps);
        text_.flag("realigned", layout.realigned);
        write_realigned(layout, regions);
    }

    void write_realigned(const batched_layout& layout, const batched_regions& regions) {
        const auto each = [&](std::int64_t realigned_operand::*member) {
            std::array<std::int64_t, 3> out{};
            for (std::size_t o = 1; o < 3; ++o) out[o] = layout.again[o].*member;
            return narrow(out);
        };
        text_.list("line_count", each(&realigned_operand::lines));
        text_.list("line_length", each(&realigned_operand::length));
        text_.list("all_line_count", each(&realigned_operand::all_lines));
        text_.list("all_line_length", each(&realigned_operand::all_length));
        text_.list("from_pitch", each(&realigned_operand::from_pitch));
        text_.list("realigned_pitch", each(&realigned_operand::pitch));
        text_.list("realigned_slot", each(&realigned_operand::slot));
        text_.list("realigned_region", narrow(regions.again));
    }

    void make_tall_skinny_atb() {
        if (!cuda_) {
            text_.constant("rows_per_tile", st_.tile[1]);
            finish("tall_skinny_atb");
            out_.shape.grid = st_.tile[0];
            return;
        }
        const auto& t = st_.batched;
        write_tile();
        text_.constant("blocks_of_an_sm", atb_resident_blocks(st_, t, chip_));
        text_.constant("sums_offset", atb_sums_offset(chip_));
        text_.constant("slices", t.slices);
        text_.constant("added_at_once", atb_added_at_once(st_));
        switch (atb_kernel_of(t)) {
        case atb_kernel::threads: write_atb_threads(); break;
        case atb_kernel::warps: write_atb_warps(); break;
        default: write_atb_panels(); break;
        }
        out_.shape.grid = atb_blocks(st_, t, chip_);
        out_.shape.blocks_meet = out_.shape.grid > 1;
        out_.shape.fits_at_once =
            out_.shape.grid > 1 && extent_of(st_, m) * extent_of(st_, n) > atb_added_at_once(st_);
        out_.shape.threads = atb_threads(st_, t);
        out_.shape.shared_bytes = static_cast<int>(atb_shared_bytes(st_, t));
    }

    void write_atb_panels() {
        const auto& t = st_.batched;
        const auto layout = panel_layout_of(st_, t);
        const bool fma = t.core == batched_core::fma;
        // Multiply-adds: neighboring slices take neighboring steps; the tensor cores: stretches of them.
        const auto apart = fma ? 1 : t.k_panel / t.slices;
        write_panels(layout, fma ? t.slices : 1);
        text_.constant("rows_of_block", extent_of(st_, m));
        write_stages(layout);
        text_.constant("barrier_bytes", barrier_bytes);
        text_.constant("copy_warps", layout.by_bulk ? 1 : 0);
        text_.list("slice_offset", std::array<std::int32_t, 3>{0, static_cast<std::int32_t>(layout.column[1] * apart),
                                                               static_cast<std::int32_t>(layout.row[2] * apart)});
        finish("tall_skinny_atb");
    }

    void write_atb_threads() {
        const auto vectors = atb_vectors_of(st_, st_.batched);
        text_.constant("k_lane", st_.batched.k_panel);
        text_.constant("x_vectors", static_cast<std::int64_t>(vectors.threads[1]));
        text_.constant("y_vectors", static_cast<std::int64_t>(vectors.threads[2]));
        finish("tall_skinny_atb_threads");
    }

    void write_atb_warps() {
        const auto vectors = atb_vectors_of(st_, st_.batched);
        text_.constant("k_lane", st_.batched.k_panel);
        text_.list("parts", vectors.parts);
        text_.list("slots", vectors.slots);
        text_.list("vector", vectors.vector);
        text_.list("along_k", std::array<std::int32_t, 3>{0, vectors.along_k[1], vectors.along_k[2]});
        finish("tall_skinny_atb_warps");
    }

    void make_tall_skinny_ab() {
        if (!cuda_) {
            const std::int64_t rows = st_.tile[0];
            text_.constant("rows_of_block", rows);
            finish("tall_skinny_ab");
            out_.shape.grid = (extent_of(st_, m) + rows - 1) / rows;
            return;
        }
        const auto& t = st_.batched;
        write_tile();
        switch (ab_kernel_of(t)) {
        case ab_kernel::threads: write_ab_threads(); break;
        case ab_kernel::warps: write_ab_warps(); break;
        default: write_ab_shared(); break;
        }
        out_.shape.grid = ab_blocks(st_, t, chip_);
        out_.shape.threads = t.threads;
        out_.shape.shared_bytes = static_cast<int>(ab_shared_bytes(st_, t));
    }

    void write_ab_shared() {
        const auto& t = st_.batched;
        auto layout = panel_layout_of(st_, t);
        const auto c = ab_result_layout(st_, t);
        layout.row[0] = c.row, layout.column[0] = c.column;
        text_.constant("rows_of_block", t.products);
        write_panels(layout, 1);
        text_.constant("panel_bytes", layout.stage_bytes);
        text_.constant("barrier_bytes", barrier_bytes);
        text_.constant("blocks_of_an_sm", ab_resident_blocks(st_, t, chip_));
        text_.constant("c_lines", static_cast<std::int64_t>(c.lines));
        finish("tall_skinny_ab");
    }

    void write_ab_threads() {
        const auto vectors = ab_vectors_of(st_, st_.batched);
        text_.constant("row_vector", vectors.row_vector);
        text_.constant("x_vectors", static_cast<std::int64_t>(vectors.x));
        text_.constant("c_vectors", static_cast<std::int64_t>(vectors.c));
        finish("tall_skinny_ab_threads");
    }

    void write_ab_warps() {
        const auto& t = st_.batched;
        const auto vectors = ab_vectors_of(st_, t);
        text_.constant("row_vector", vectors.row_vector);
        text_.constant("row_slots", t.tile_m);
        text_.constant("k_lane", t.k_panel);
        text_.flag("x_along_m", vectors.x_along_m);
        text_.flag("runs_ahead", t.stages > 1);
        text_.constant("blocks_of_an_sm", ab_resident_blocks(st_, t, chip_));
        finish("tall_skinny_ab_warps");
    }

    void finish(std::string_view name) {
        out_.source = complete_source(text_.text(), fmt::format("{}{}", name, cuda_ ? ".cuh" : "_cpu.hpp"));
        out_.entry = fmt::format("ricci_{}", name);
    }

    const step& st_;
    const machine& chip_;
    bool cuda_;
    axis_group m_, n_, k_, batch_;
    std::int64_t products_ = 1;
    std::size_t blocks_word_ = 0;
    prelude text_;
    kernel_request out_;
};

} // namespace

kernel_request make_product(const step& st, const machine& chip) { return product_source(st, chip).make(); }

kernel_request make_kernel(const step& st, const machine& chip) {
    return st.kernel == family::direct ? make_direct(st, chip) : make_product(st, chip);
}

} // namespace ricci::runtime
