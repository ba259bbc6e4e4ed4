// kernel_source_tall_skinny: the constants and launch shapes of the kernels for products with one long axis.
#include "runtime/kernel_source_families.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/panel_shifts.hpp"
#include "lowering/tall_skinny_ab_layout.hpp"
#include "lowering/tall_skinny_atb_layout.hpp"
#include "runtime/product_source.hpp"

#include <array>
#include <cstdint>

namespace ricci::runtime {
namespace {

using namespace lowering;
using enum axis_class;

class tall_skinny_source : public product_source {
  public:
    using product_source::product_source;

    kernel_request make() {
        if (st_.kernel == family::tall_skinny_atb) make_tall_skinny_atb();
        else make_tall_skinny_ab();
        return take_request();
    }

  private:
    void make_tall_skinny_atb() {
        if (!cuda_) {
            write_tile(1);
            text_.constant("simd_bytes", chip_.vector_bytes);
            text_.constant("rows_per_tile", st_.tile[1]);
            finish("tall_skinny_atb");
            out_.shape.grid = st_.tile[0];
            return;
        }
        const auto& t = st_.batched;
        write_tile(atb_threads(st_, t));
        text_.constant("blocks_of_an_sm", atb_resident_blocks(st_, t, chip_));
        text_.constant("slices", t.slices);
        switch (atb_kernel_of(t)) {
        case atb_kernel::threads: write_atb_threads(); break;
        case atb_kernel::warps: write_atb_warps(); break;
        default: write_atb_panels(); break;
        }
        out_.shape.grid = atb_blocks(st_, t, chip_);
        out_.shape.threads = atb_threads(st_, t);
        out_.shape.shared_bytes = static_cast<int>(atb_shared_bytes(st_, t));
        if (out_.shape.grid > 1) add_block_sums();
    }

    /// What runs behind the kernel. Its text has nothing of the tile: one for all.
    void add_block_sums() {
        const std::int64_t columns = atb_columns_of_sums(st_), elements = extent_of(st_, m) * extent_of(st_, n);
        auto text = shared_text_;
        text.constant("threads_per_block", atb_threads_of_sums);
        text.constant("columns", columns);
        kernel_launch& sums = out_.behind.emplace_back();
        sums.source = complete_source(text.text(), "block_sums.cuh");
        sums.entry = "ricci_block_sums";
        sums.shape.grid = up(elements, columns);
        sums.shape.threads = static_cast<int>(atb_threads_of_sums);
        sums.shape.shared_bytes = static_cast<int>(atb_threads_of_sums * size_of(st_.compute));
    }

    void write_atb_panels() {
        const auto& t = st_.batched;
        const auto layout = panel_layout_of(st_, t);
        const bool fma = t.core == batched_core::fma;
        // Multiply-adds: neighboring slices take neighboring steps; the tensor cores: stretches of them.
        const auto apart = fma ? 1 : t.k_panel / t.slices;
        write_panels(layout, fma ? t.slices : 1);
        text_.constant("rows_of_block", extent_of(st_, m));
        write_stages(atb_stages(t), layout.stage_bytes);
        write_raw_stages(layout.stage_bytes);
        text_.constant("barrier_bytes", atb_barrier_bytes(t));
        text_.constant("copy_warps", atb_copy_warps(st_, t));
        const auto x_step = t.boxed ? box_lines(extent_of(st_, m)) : layout.column[1],
                   y_step = t.boxed ? box_lines(extent_of(st_, n)) : layout.row[2];
        text_.list("slice_offset", std::array<std::int32_t, 3>{0, static_cast<std::int32_t>(x_step * apart),
                                                               static_cast<std::int32_t>(y_step * apart)});
        finish("tall_skinny_atb");
        if (t.realigned) add_shifted_boxes();
        else if (t.boxed) add_boxes(1, *boxes_of(st_, 1, k, m, chip_)), add_boxes(2, *boxes_of(st_, 2, k, n, chip_));
    }

    void write_raw_stages(std::int64_t stage_bytes) {
        const auto& t = st_.batched;
        const auto raw = t.realigned ? shifted_panel_layout_of(st_, t) : shifted_panel_layout{};
        text_.constant("raw_stages", t.realigned ? t.stages : 0);
        text_.constant("raw_first", atb_barrier_bytes(t) + atb_stages(t) * stage_bytes);
        text_.constant("raw_stage_bytes", raw.stage_bytes);
        text_.list("raw_region", narrow(raw.region));
        text_.list("raw_box_bytes", narrow(raw.box_bytes));
        text_.constant("raw_steps", raw.steps);
    }

    void add_shifted_boxes() {
        using enum shifted_columns;
        for (const int o : {1, 2}) {
            add_boxes(shifted_panel_map(o, most), o, shifted_panel_boxes(st_, o, st_.batched, most));
            if (has_fewer_columns(st_, o))
                add_boxes(shifted_panel_map(o, fewer), o, shifted_panel_boxes(st_, o, st_.batched, fewer));
        }
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
        write_tile(t.threads);
        switch (ab_kernel_of(t)) {
        case ab_kernel::threads: write_ab_threads(); break;
        case ab_kernel::warps: write_ab_warps(); break;
        case ab_kernel::boxes: write_ab_boxes(); break;
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

    void write_ab_boxes() {
        const auto& t = st_.batched;
        const auto shape = ab_box_shape_of(st_, *mma_of(st_, t));
        text_.constant("blocks_of_an_sm", ab_resident_blocks(st_, t, chip_));
        text_.constant("stages", t.stages);
        text_.constant("boxes_of_stage", t.tile_m);
        text_.constant("box_bytes", shape.box_bytes);
        text_.constant("c_place", shape.c_place);
        text_.constant("barrier_bytes", box_alignment);
        finish("tall_skinny_ab_boxes");
        add_boxes(0, *boxes_of(st_, 0, m, n, chip_)), add_boxes(1, *boxes_of(st_, 1, m, k, chip_));
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
};

} // namespace

kernel_request make_tall_skinny(const step& st, const machine& chip) { return tall_skinny_source(st, chip).make(); }

} // namespace ricci::runtime
