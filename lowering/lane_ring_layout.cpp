// lane_ring_layout: which interleaved products kernels/batched_lane_ring.cuh and batched_lane_shifts.cuh take, and
// how their blocks divide them.
#include "lowering/lane_ring_layout.hpp"

#include "lowering/families.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t bank_alignment = 128; ///< of what boxes come to
constexpr int own_of_thread = 36, own_of_shifted = 46; ///< registers beside the sums and what is multiplied

std::int64_t aligned(std::int64_t bytes) { return up(bytes, bank_alignment) * bank_alignment; }

/// Elements from one to the next along a class of one axis, or none.
std::int64_t step_along(const operand& x, const step& st, axis_class c) {
    const auto axes = axes_of(st, c);
    return axes.empty() ? 0 : x.stride[static_cast<std::size_t>(axes.front())];
}

/// Lines of a box and planes: of C rows and columns, of X rows and steps of the sum, of Y columns and steps.
std::array<axis_class, 2> box_axes(int o) { return o == 0 ? std::array{m, n} : std::array{o == 1 ? m : n, k}; }

/// The copy engine knows elements of up to 8 bytes.
std::int64_t units_of(std::int64_t bytes) { return bytes > 8 ? 2 : 1; }

std::int64_t batch_length(const step& st) {
    return st.axes[static_cast<std::size_t>(axes_of(st, batch).front())].extent;
}

bool has_single_axes(const step& st) {
    return axes_of(st, m).size() <= 1 && axes_of(st, n).size() <= 1 && axes_of(st, k).size() == 1;
}

/// Whether lines lie in one piece, one behind another, as far from one another as the copy engine knows.
bool have_lanes(const step& st, const machine& chip) {
    constexpr std::int64_t most_length = std::int64_t{1} << 30, most_between = std::int64_t{1} << 36;
    if (!has_bulk_copies(chip) || axes_of(st, batch).size() != 1 || !has_single_axes(st)) return false;
    for (const int o : {0, 1, 2}) {
        const auto& x = operand_of(st, o);
        if (step_along(x, st, batch) != 1 || batch_length(st) >= most_length) return false;
        for (const auto c : box_axes(o))
            if (const auto between = step_along(x, st, c);
                extent_of(st, c) > 1 && (between < batch_length(st) || between * size_of(x.type) >= most_between))
                return false;
    }
    return true;
}

/// Registers that a thread is expected to need.
int lane_ring_registers(const lane_ring_product& p, const batched_tile& t) {
    const auto& s = p.s;
    const int tile = t.tile_m * t.tile_n, sums = tile * t.thread_products * s.words,
              sides = (t.tile_m + t.tile_n) * t.thread_products * s.words;
    if (!is_shifted(t)) return sums + sides + own_of_thread;
    const int q = 16 / s.x_bytes,
              shifts = (p.shifts.steps[1] ? q : t.tile_m) + (p.shifts.steps[2] ? q : t.tile_n);
    return sums + (s.x_bytes == 2 ? 3 : 1) * sides + shifts + own_of_shifted;
}

} // namespace

bool moves_lanes_in_boxes(const step& st, const machine& chip) {
    if (!have_lanes(st, chip)) return false;
    for (const int o : {0, 1, 2}) {
        const auto& x = operand_of(st, o);
        const auto bytes = size_of(x.type);
        if (batch_length(st) * bytes % 16 != 0 || x.offset * bytes % 16 != 0) return false;
        for (const auto c : box_axes(o))
            if (extent_of(st, c) > 1 && step_along(x, st, c) * bytes % 16 != 0) return false;
    }
    return true;
}

bool shifts_lanes(const step& st, const machine& chip) {
    constexpr std::int64_t most_bytes = std::int64_t{16} << 30; // planes 16 bytes apart are counted by ints
    if (!have_lanes(st, chip)) return false;
    for (const int o : {0, 1, 2}) {
        const auto& x = operand_of(st, o);
        std::int64_t last = 0;
        for (const auto c : box_axes(o)) last += (extent_of(st, c) - 1) * step_along(x, st, c);
        if ((last + batch_length(st)) * size_of(x.type) > most_bytes) return false;
    }
    const auto bytes = size_of(operand_of(st, 1).type);
    const auto residues = 16 / bytes;
    return bytes <= 8 && size_of(operand_of(st, 0).type) == bytes && size_of(operand_of(st, 2).type) == bytes &&
           std::min(extent_of(st, m), extent_of(st, n)) >= residues;
}

lane_shifts lane_shifts_of(const step& st) {
    lane_shifts out;
    for (const int o : {0, 1, 2}) {
        const auto& x = operand_of(st, o);
        // Where a step is some whole batches, it is taken for that of a batch of odd length: all have one kernel.
        const auto shifts = [&](axis_class c) {
            const auto step = step_along(x, st, c), length = batch_length(st);
            return extent_of(st, c) > 1 && (step % length == 0 ? step / length : step) * size_of(x.type) % 16 != 0;
        };
        const auto at = static_cast<std::size_t>(o);
        out.others[at] = shifts(box_axes(o)[0]), out.steps[at] = shifts(box_axes(o)[1]);
    }
    return out;
}

lane_ring_layout lane_ring_layout_of(const lane_ring_product& p, const batched_tile& t) {
    const auto& s = p.s;
    lane_ring_layout out;
    out.columns = t.panel;
    const auto lanes = t.products / t.thread_products, column_threads = t.panel / t.tile_n;
    out.rows = (t.threads - lane_helper_warps(t) * warp) / (lanes * column_threads) * t.tile_m;
    out.row_blocks = up(s.m, out.rows), out.column_blocks = up(s.n, out.columns);
    out.barrier_bytes = aligned(2 * 8 * (t.stages + t.slices));
    if (is_shifted(t)) {
        out.residues = 16 / s.x_bytes;
        const auto line_bytes = (t.products + out.residues) * s.x_bytes;
        const auto& shifts = p.shifts;
        out.steps_shift = shifts.steps;
        for (const std::size_t o : {0, 1, 2}) {
            const auto others = o == 2 ? out.columns : out.rows;
            const bool divides = others % out.residues == 0;
            out.residues_of[o] = shifts.others[o] && divides ? out.residues : 1;
            out.boxes_fit = out.boxes_fit && (divides || !shifts.others[o]);
            out.box_bytes[o] = aligned(others / out.residues_of[o] * line_bytes);
        }
        out.region = {0, 0, t.k_panel * out.residues_of[1] * out.box_bytes[1]};
        out.stage_bytes = out.region[2] + t.k_panel * out.residues_of[2] * out.box_bytes[2];
        out.c_bytes = !p.accumulates ? 0 : out.columns * out.residues_of[0] * out.box_bytes[0];
    } else {
        out.region = {0, 0, aligned(out.rows * t.k_panel * t.products * s.x_bytes)};
        out.stage_bytes = out.region[2] + aligned(out.columns * t.k_panel * t.products * s.y_bytes);
        out.c_bytes = aligned(out.rows * out.columns * t.products * s.c_bytes);
    }
    out.shared_bytes = out.barrier_bytes + t.slices * out.c_bytes + t.stages * out.stage_bytes;
    return out;
}

bool has_lane_boxes(const step& st, const batched_tile& t, const machine& chip) {
    if (!is_shifted(t)) return moves_lanes_in_boxes(st, chip);
    // Of shorter lines a box could ask for what is behind a matrix.
    const auto least_length = 2 * 16 / size_of(operand_of(st, 1).type);
    return shifts_lanes(st, chip) && lane_ring_layout_of(st, t).boxes_fit && batch_length(st) >= least_length;
}

box_layout lane_boxes_of(const step& st, int o, const batched_tile& t, const lane_ring_layout& layout) {
    const auto& x = operand_of(st, o);
    const auto bytes = size_of(x.type), units = units_of(bytes);
    const auto classes = box_axes(o);
    const auto between = [&](axis_class c) { // of a single line or plane, any
        return extent_of(st, c) > 1 ? step_along(x, st, c) * bytes : batch_length(st) * bytes;
    };
    return {bytes / units,
            {batch_length(st) * units, extent_of(st, classes[0]), extent_of(st, classes[1])},
            {between(classes[0]), between(classes[1])},
            {t.products * units, o == 2 ? layout.columns : layout.rows, o == 0 ? layout.columns : t.k_panel},
            false};
}

box_layout shifted_boxes_of(const step& st, int o, const batched_tile& t, const lane_ring_layout& layout,
                            shifted_lines lines) {
    const auto& x = operand_of(st, o);
    const auto bytes = size_of(x.type), others = extent_of(st, box_axes(o)[0]), q = layout.residues,
               own = layout.residues_of[static_cast<std::size_t>(o)];
    // To the last line, from the multiple of 16 bytes before the first.
    const auto steps = extent_of(st, box_axes(o)[1]), other_step = step_along(x, st, box_axes(o)[0]),
               last = (others - 1) * other_step + (steps - 1) * step_along(x, st, box_axes(o)[1]);
    return {bytes,
            {up(batch_length(st) + q - 1, q) * q,
             lines == shifted_lines::fewer ? std::max<std::int64_t>(1, others / own) : up(others, own),
             (last + q - 1) / q + 1},
            {others > 1 ? other_step * own * bytes : 16, 16},
            {t.products + q, (o == 2 ? layout.columns : layout.rows) / own, 1},
            false,
            (last + batch_length(st)) * bytes,
            lines == shifted_lines::last ? last * bytes : -1};
}

std::int64_t lane_ring_resident_blocks(const step& st, const batched_tile& t, const machine& chip) {
    const lane_ring_product p(st);
    return lane_ring_resident_blocks(p, t, lane_ring_layout_of(p, t), chip);
}

std::int64_t lane_ring_resident_blocks(const lane_ring_product& p, const batched_tile& t,
                                       const lane_ring_layout& layout, const machine& chip) {
    const auto held = layout.shared_bytes;
    if (held > chip.shared_bytes) return 0;
    return std::min({blocks_of_an_sm, threads_of_an_sm / t.threads,
                     warps_with(lane_ring_registers(p, t)) / up(t.threads, warp),
                     shared_of_an_sm(chip) / (held + shared_of_a_block)});
}

std::int64_t lane_ring_blocks(const step& st, const batched_tile& t, const machine& chip) {
    const lane_ring_product p(st);
    const auto layout = lane_ring_layout_of(p, t);
    const auto parts = up(batch_length(st), t.products) * layout.row_blocks * layout.column_blocks;
    return std::min(parts, chip.processors * lane_ring_resident_blocks(p, t, layout, chip));
}

} // namespace ricci::lowering
