// stationary_layout: how the slices of the GPU's batched_stationary kernel lie in shared memory.
#pragma once

#include "lowering/plan.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace ricci::lowering {

/// An operand's lines, of neighbors in memory.
struct matrix_lines {
    bool along_k = false;
    std::int64_t length = 0, count = 0;
    std::int64_t between = 0; ///< elements from one line to the next
};

/// Of C (o: 0), X (1) or Y (2) of a step with single axes m, n and k. None where an operand does not lie in lines.
std::optional<matrix_lines> lines_of(const step& st, int o);

/// Whether Y's numbers come one by one, since each slice has parts of its lines, which start anywhere.
bool cuts_unaligned_lines(const step& st);

/// Passes through shared memory of a warp's access to an operand's numbers, lines being `pitch` elements apart.
double slice_conflicts(const step& st, int o, std::int64_t pitch, const batched_tile& t);

/// How slices of C, X and Y lie in a stage: see kernels/slice_stream.cuh.
struct stationary_layout {
    std::array<bool, 3> along_k{}, is_run{};
    std::array<std::int64_t, 3> pitch{};  ///< elements from one line to the next
    std::array<std::int64_t, 3> region{}; ///< bytes from the start of a stage
    std::int64_t stage_bytes = 0;
};
stationary_layout stationary_layout_of(const step& st, const batched_tile& t);

} // namespace ricci::lowering
