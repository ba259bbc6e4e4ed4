// stationary_layout: how the slices of the GPU's batched_stationary kernel lie in shared memory.
#include "lowering/stationary_layout.hpp"

#include "lowering/bank_conflicts.hpp"
#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cstdlib>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr double least_use = 0.8; ///< what part of a run must be the operand's own

std::int64_t stride_of(const step& st, int o, axis_class c) {
    return operand_of(st, o).stride[static_cast<std::size_t>(axes_of(st, c).front())];
}

/// Whether the batch steps beyond an operand's matrix: then the matrix's strides are constants of the kernel.
bool batch_is_outside(const step& st, int o, const matrix_lines& x) {
    const auto& strides = operand_of(st, o).stride;
    for (const auto b : axes_of(st, batch))
        if (const auto s = std::abs(strides[static_cast<std::size_t>(b)]); s != 0 && s < x.between * x.count)
            return false;
    for (const auto& g : operand_of(st, o).gathers)
        if (g.stride != 0 && std::abs(g.stride) < x.between * x.count) return false;
    return true;
}

/// Passes through shared memory of a warp's read of X's or Y's numbers, lines being `pitch` elements apart.
double read_conflicts(const step& st, int o, const matrix_lines& x, std::int64_t pitch, const batched_tile& t) {
    const auto& mma = *mma_of(st, t);
    const auto side_step = x.along_k ? pitch : 1, k_step = x.along_k ? 1 : pitch,
               bytes = size_of(operand_of(st, o).type);
    if (t.warpgroups && o == 2) // stationary_warpgroup.cuh's make_fragments
        return x.along_k ? 1 : wavefronts(mma.element_bytes, [&](int lane) {
            return (lane % 8 + lane / 8 * k_step) * bytes;
        });
    // steps between lanes
    const auto neighbors = t.warpgroups    ? 2 * up(extent_of(st, k), 8)
                           : t.k_apart > 0 ? std::int64_t{4} * t.k_apart
                                           : std::int64_t{1};
    return wavefronts(mma.element_bytes,
                      [&](int lane) { return (lane / 4 * side_step + lane % 4 * neighbors * k_step) * bytes; });
}

/// The same of its access to C.
double result_conflicts(const step& st, std::int64_t pitch, const batched_tile& t) {
    const auto bytes = size_of(operand_of(st, 0).type), part = is_complex(operand_of(st, 0).type) ? bytes / 2 : bytes;
    return wavefronts(static_cast<int>(part), [&](int lane) {
        return (t.warpgroups ? lane % 4 * 2 * pitch + lane / 4 : lane / 4 * pitch + lane % 4 * 2) * bytes;
    });
}

double conflicts_of(const step& st, int o, const matrix_lines& x, std::int64_t pitch, const batched_tile& t) {
    return o == 0 ? result_conflicts(st, pitch, t) : read_conflicts(st, o, x, pitch, t);
}

/// Elements from one line to the next, at multiples of 16 bytes: with the fewest bank conflicts, then the least.
std::int64_t line_pitch(const step& st, int o, const matrix_lines& x, std::int64_t length, const batched_tile& t) {
    const auto bytes = size_of(operand_of(st, o).type), least = up(length * bytes, 16) * 16;
    std::int64_t best = least / bytes;
    double fewest = conflicts_of(st, o, x, best, t);
    for (std::int64_t more = 16; more < 128; more += 16)
        if (const auto own = conflicts_of(st, o, x, (least + more) / bytes, t); own < fewest)
            best = (least + more) / bytes, fewest = own;
    return best;
}

/// Of an operand whose lines are `length` elements in a slice and so many.
void place_slice(const step& st, int o, const batched_tile& t, std::int64_t length, std::int64_t count,
                 stationary_layout& out) {
    const auto x = *lines_of(st, o);
    const auto at = static_cast<std::size_t>(o);
    const auto bytes = size_of(operand_of(st, o).type);
    const bool whole = length == x.length, dense = x.between == x.length;
    const bool may_be_run =
        whole && batch_is_outside(st, o, x) &&
        (o == 0 ? dense : static_cast<double>(x.length) >= least_use * static_cast<double>(x.between));
    const bool may_be_lines = x.between * bytes % 16 == 0; // else they come element by element
    const auto pitch = line_pitch(st, o, x, length, t);
    // More wavefronts cost less than copies of 16 bytes: X is read once, and of warpgroups C's are few beside the
    // rest.
    const double of_run = conflicts_of(st, o, x, x.between, t),
                 of_lines = conflicts_of(st, o, x, pitch, t);
    out.along_k[at] = x.along_k;
    out.is_run[at] = may_be_run && (!may_be_lines || of_run <= of_lines * (o == 1 || t.warpgroups ? 4 : 1));
    out.pitch[at] = out.is_run[at] ? x.between : pitch;
    out.region[at] = o == 1 ? 0 : out.stage_bytes;
    const auto end =
        out.region[at] + up(((count - 1) * out.pitch[at] + length) * bytes + (out.is_run[at] ? 128 : 0), 128) * 128;
    out.stage_bytes = std::max(out.stage_bytes, end);
}

} // namespace

std::optional<matrix_lines> lines_of(const step& st, int o) {
    const auto side = o == 2 ? n : m, other = o == 0 ? n : k;
    const auto along_side = stride_of(st, o, side), along_other = stride_of(st, o, other);
    const auto of_side = extent_of(st, side), of_other = extent_of(st, other);
    if (along_side == 1 && along_other >= of_side) return matrix_lines{false, of_side, of_other, along_other};
    if (o != 0 && along_other == 1 && along_side >= of_other)
        return matrix_lines{true, of_other, of_side, along_side};
    return std::nullopt;
}

bool cuts_unaligned_lines(const step& st) {
    for (const auto c : {m, n, k})
        if (axes_of(st, c).size() != 1) return false;
    const auto y = lines_of(st, 2);
    return y && !y->along_k && y->between * size_of(operand_of(st, 2).type) % 16 != 0;
}

double slice_conflicts(const step& st, int o, std::int64_t pitch, const batched_tile& t) {
    return conflicts_of(st, o, *lines_of(st, o), pitch, t);
}

stationary_layout stationary_layout_of(const step& st, const batched_tile& t) {
    stationary_layout out;
    const auto x = *lines_of(st, 1), y = *lines_of(st, 2);
    if (y.along_k)
        place_slice(st, 2, t, y.length, t.panel, out);
    else
        place_slice(st, 2, t, std::min<std::int64_t>(t.panel, extent_of(st, n)), y.count, out);
    place_slice(st, 0, t, extent_of(st, m), t.panel, out);
    place_slice(st, 1, t, x.length, std::min<std::int64_t>(t.k_panel, x.count), out);
    return out;
}

} // namespace ricci::lowering
