// kernel_source_batched: the constants and launch shapes of the kernels for batches of small products.
#include "runtime/kernel_source_families.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/batched_model.hpp"
#include "lowering/blocked_product.hpp"
#include "lowering/families.hpp"
#include "lowering/gett_blocks.hpp"
#include "lowering/gett_packed.hpp"
#include "lowering/lane_ring_layout.hpp"
#include "lowering/lanes_model.hpp"
#include "lowering/register_tile.hpp"
#include "lowering/stationary_layout.hpp"
#include "lowering/stationary_model.hpp"
#include "runtime/nvrtc_compiler.hpp"
#include "runtime/product_source.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;
using enum axis_class;

class batched_source : public product_source {
  public:
    using product_source::product_source;

    kernel_request make() {
        switch (st_.kernel) {
        case family::batched_small: make_batched_small(); break;
        case family::batched_lanes: make_batched_lanes(); break;
        case family::batched_panels: make_batched_panels(); break;
        case family::batched_blocked: make_batched_blocked(); break;
        case family::gett: make_gett(); break;
        default: make_batched_stationary(); break;
        }
        return take_request();
    }

  private:
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
            write_vectors();
            text_.constant("products_ahead", st_.batched.stages);
            text_.flag("adds_along_k", adds_along_k(st_));
            finish("batched_small");
            out_.shape.grid = products_;
            return;
        }
        const auto& t = st_.batched;
        const auto layout = batched_layout_of(st_, t);
        write_tile(t.threads);
        write_layout(layout, t.products);
        text_.flag("always_aligned",
                   layout.realigned || (layout.operands[1].line > 0 && layout.operands[2].line > 0));
        write_fragments(layout.realigned ? fragment_load::matrices : span_fragments(st_, layout), t.k_apart,
                        t.columns_apart);
        text_.constant("rows_of_block", extent_of(st_, m));
        text_.constant("columns_of_block", extent_of(st_, n));
        finish("batched_small");
        const auto share = batched_share(products_, t, chip_);
        out_.words[blocks_word_ + 1] = static_cast<std::uint64_t>(share);
        out_.shape.grid = (products_ + share - 1) / share;
        out_.shape.threads = t.threads;
        out_.shape.shared_bytes = static_cast<int>(batched_shared_bytes(st_, layout, t.products));
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
        text_.list("tiles_in_turn", each(&realigned_operand::tiles_in_turn));
        text_.list("columns_are_lines", std::array<std::int32_t, 3>{0, layout.again[1].columns_are_lines,
                                                                    layout.again[2].columns_are_lines});
        text_.list("realigned_slot", each(&realigned_operand::slot));
        text_.list("realigned_region", narrow(regions.again));
    }

    /// How the blocks of a kernel for interleaved products divide C; and its stages.
    template <class Layout> void write_parts_of_c(const Layout& layout) {
        text_.constant("products_per_thread", st_.batched.thread_products);
        text_.constant("rows_of_block", layout.rows);
        text_.constant("columns_of_block", layout.columns);
        text_.constant("row_blocks", layout.row_blocks);
        text_.constant("column_blocks", layout.column_blocks);
        text_.constant("k_panel", st_.batched.k_panel);
        write_stages(st_.batched.stages, layout.stage_bytes);
    }

    void write_vectors() {
        write_tile(1);
        text_.constant("simd_bytes", chip_.vector_bytes);
        text_.constant("simd_registers", chip_.vector_registers);
    }

    /// Of a CPU's kernels whose blocks are parts of C.
    void write_blocks(std::int64_t block_rows) {
        write_vectors();
        text_.constant("k_panel", st_.batched.k_panel);
        text_.constant("rows_of_block", block_rows);
        text_.constant("columns_of_block", st_.batched.panel);
    }

    void make_batched_blocked() {
        const auto& t = st_.batched;
        const auto layout = blocked_layout_of(st_, t, chip_);
        write_blocks(layout.block_rows);
        text_.constant("products_ahead", t.stages);
        text_.constant("symmetry", static_cast<std::int64_t>(symmetry_of_c(st_)));
        text_.flag("x_in_place", reads_x_in_place(st_, t));
        finish("batched_blocked");
        out_.shape.grid = products_ * layout.row_blocks * layout.column_blocks;
    }

    void make_gett() {
        std::vector<std::int32_t> sides;
        std::vector<const bound*> bounds;
        for (const int o : {1, 2})
            for (const auto& b : operand_of(st_, o).bounds) sides.push_back(o), bounds.push_back(&b);
        text_.constant("bound_count", static_cast<std::int64_t>(sides.size()));
        text_.list("bound_side", sides);
        if (cuda_) {
            write_gett_blocks();
        } else {
            const auto layout = gett_layout_of(st_, st_.batched, chip_);
            write_blocks(layout.block_rows);
            out_.shape.grid = products_ * layout.row_blocks * layout.column_blocks;
            text_.list("sum_line", std::array{static_cast<std::int32_t>(gett_lines(st_, 1)),
                                              static_cast<std::int32_t>(gett_lines(st_, 2))});
        }
        finish("gett");
        pack_bounds(sides, bounds);
    }

    void write_gett_blocks() {
        const auto& t = st_.batched;
        const auto layout = panel_layout_of(st_, t);
        write_tile(t.threads);
        write_panels(layout, 1);
        text_.constant("rows_of_block", t.products);
        write_stages(t.stages, layout.stage_bytes);
        text_.constant("places_bytes", gett_places_bytes(st_, t));
        text_.constant("blocks_of_an_sm", gett_resident_blocks(st_, t, chip_));
        text_.flag("sums_apart", gett_sums_apart(st_, t));
        out_.shape.grid = gett_block_count(st_, t);
        out_.shape.threads = t.threads;
        out_.shape.shared_bytes = static_cast<int>(gett_shared_bytes(st_, t));
    }

    /// As gett_arguments has them.
    void pack_bounds(const std::vector<std::int32_t>& sides, const std::vector<const bound*>& bounds) {
        argument_packer pack(out_);
        const auto all = [&](const auto& number_of) {
            for (std::size_t b = 0; b < bounds.size(); ++b) number_of(b);
            if (bounds.empty()) pack.number(0);
        };
        const auto steps_along = [&](axis_class c, std::size_t b, std::size_t room) {
            const auto axes = axes_of(st_, c);
            for (std::size_t a = 0; a < std::max<std::size_t>(room, 1); ++a)
                pack.number(a < axes.size() ? bounds[b]->coefficient[static_cast<std::size_t>(axes[a])] : 0);
        };
        all([&](std::size_t b) { pack.number(bounds[b]->offset); });
        all([&](std::size_t b) { pack.number(bounds[b]->extent); });
        const auto side_axes = std::max(m_.extent.size(), n_.extent.size());
        all([&](std::size_t b) { steps_along(sides[b] == 1 ? m : n, b, side_axes); });
        all([&](std::size_t b) { steps_along(k, b, k_.extent.size()); });
        all([&](std::size_t b) { steps_along(batch, b, batch_.extent.size()); });
    }

    void make_lanes_on_cpu() {
        write_vectors();
        finish("batched_lanes");
        const auto lanes = chip_.vector_bytes / size_of(real_of(st_.compute));
        const auto length = st_.axes[static_cast<std::size_t>(axes_of(st_, batch).front())].extent;
        out_.shape.grid = products_ / length * ((length + lanes - 1) / lanes);
    }

    void make_batched_lanes() {
        const auto& t = st_.batched;
        if (!cuda_) return make_lanes_on_cpu();
        if (t.boxed) return make_lane_ring();
        out_.shape.grid = lanes_blocks(st_, t);
        text_.constant("blocks_of_an_sm", lanes_resident_blocks(st_, t, chip_));
        out_.shape.threads = t.threads;
        if (!has_panels(t)) {
            text_.constant("threads_per_block", t.threads);
            return finish("batched_lanes");
        }
        const auto layout = lanes_layout_of(st_, t);
        write_tile(t.threads);
        write_parts_of_c(layout);
        text_.list("lines", narrow(layout.lines));
        text_.list("for_all", std::array<std::int32_t, 3>{0, layout.for_all[1], layout.for_all[2]});
        text_.list("pitch", narrow(layout.pitch));
        text_.list("region", narrow(layout.region));
        finish("batched_lane_panels");
        out_.shape.shared_bytes = static_cast<int>(lanes_shared_bytes(st_, t));
    }

    /// Whether batched_lane_shifts does: not C where it is only written, nor fewer lines where all residues have as
    /// many.
    bool reads_boxes(int o, const lane_ring_layout& layout, shifted_lines lines) const {
        const auto others = extent_of(st_, o == 2 ? n : m);
        return (o > 0 || st_.op != assignment::assign) &&
               (lines != shifted_lines::fewer || others % layout.residues_of[static_cast<std::size_t>(o)] != 0);
    }

    void make_lane_ring() {
        const auto& t = st_.batched;
        const auto layout = lane_ring_layout_of(st_, t);
        write_tile(t.threads);
        text_.constant("blocks_of_an_sm", lane_ring_resident_blocks(st_, t, chip_));
        text_.constant("helper_warps", lane_helper_warps(t));
        write_parts_of_c(layout);
        text_.constant("c_stages", t.slices);
        text_.constant("c_bytes", layout.c_bytes);
        text_.constant("residues", layout.residues);
        text_.list("residues_of", narrow(layout.residues_of));
        text_.list("box_bytes", narrow(layout.box_bytes));
        text_.list("steps_shift", std::array<std::int32_t, 3>{layout.steps_shift[0], layout.steps_shift[1],
                                                              layout.steps_shift[2]});
        text_.constant("barrier_bytes", layout.barrier_bytes);
        text_.list("region", narrow(layout.region));
        finish(is_shifted(t) ? "batched_lane_shifts" : "batched_lane_ring");
        out_.shape.grid = lane_ring_blocks(st_, t, chip_);
        out_.shape.threads = t.threads;
        out_.shape.shared_bytes = static_cast<int>(layout.shared_bytes);
        if (!has_lane_boxes(st_, t, chip_)) return;
        if (is_shifted(t)) {
            for (const int o : {0, 1, 2})
                for (const auto lines : {shifted_lines::most, shifted_lines::fewer, shifted_lines::last})
                    if (reads_boxes(o, layout, lines))
                        add_boxes(shifted_map(o, lines), o, shifted_boxes_of(st_, o, t, layout, lines));
        } else {
            for (const int o : {0, 1, 2}) add_boxes(o, lane_boxes_of(st_, o, t, layout));
        }
    }

    void make_batched_panels() {
        const auto& t = st_.batched;
        const auto layout = panel_layout_of(st_, t);
        const auto column_blocks = (extent_of(st_, n) + t.panel - 1) / t.panel;
        write_tile(t.threads);
        write_panels(layout, 1);
        text_.constant("rows_of_block", extent_of(st_, m));
        write_stages(st_.batched.stages, layout.stage_bytes);
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
        write_tile(t.threads);
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
        write_stages(st_.batched.stages, layout.stage_bytes);
        text_.constant("barrier_bytes", stationary_barrier_bytes(t));
        text_.flag("x_for_all", stationary_x_is_for_all(st_));
        text_.constant("blocks_of_an_sm", stationary_resident_blocks(st_, t, chip_));
        finish("batched_stationary");
        if (registers.compute > 0 || t.warpgroups) out_.source.insert(0, architecture_specific_marker);
        out_.shape.grid = stationary_blocks(st_, t, chip_);
        out_.shape.threads = t.threads;
        out_.shape.shared_bytes = static_cast<int>(stationary_shared_bytes(st_, t));
    }
};

} // namespace

kernel_request make_batched(const step& st, const machine& chip) { return batched_source(st, chip).make(); }

} // namespace ricci::runtime
