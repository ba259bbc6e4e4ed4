// substitute_work: what the parameters of the kernels that solve with factors depend on, of a step, and a set of
// these.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/matrix_sizes.hpp"
#include "lowering/plan.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace ricci::lowering {

struct substitute_work {
    matrix_sizes sizes;
    matrix_method method = matrix_method::cholesky;
    std::int64_t size = 8, parts = 1, real_size = 8; ///< bytes of an element, reals of it, bytes of these
    std::int64_t work_rows = 0, solution_rows = 0, reflectors = 0;
    std::int64_t vector_bytes = 0; ///< pivots or tau, of a matrix
    bool applies_q = false, solves = false, has_pivots = false, of_adjoint = false;
    std::int64_t row = 0, column = 0, batch = 0; ///< steps of the matrix; of the batch's only or first axis
    std::int64_t neighbors = 1;                  ///< extent of that axis
    std::int64_t distance = 0;                   ///< from matrix to matrix in a span

    explicit substitute_work(const step& st);

    std::int64_t tiles(std::int64_t sides) const { return up(std::max<std::int64_t>(sizes.r, 1), sides); }
    /// Passes through the matrix's rows, and those through reflectors: what is one after the other.
    double steps() const;
    /// From and to memory, of a matrix.
    double bytes_moved() const;
    /// What blocks of so many matrices take, of which an SM has room for so many: cycles that each takes of it, and
    /// that each waits.
    double seconds(double matrices, double products, double room, double taken, double waited,
                   const machine& chip) const;
    bool columns_contiguous() const { return std::abs(row) <= std::abs(column); }
    bool is_interleaved() const { return batch == 1 && neighbors >= 16; }
    /// Elements from one matrix to the next in a slab, as kernels/substitute_lanes.cuh has them; 0: there is none.
    std::int64_t slot() const {
        // rows apart by an even number of elements would lie on the same banks
        if (!columns_contiguous() && row % 2 == 0 && sizes.m > 2) return 0;
        return 4 * distance <= 5 * sizes.m * sizes.n ? distance : 0;
    }
    /// Elements of a matrix in shared memory.
    std::int64_t slot_of(bool in_slabs, std::int64_t lanes) const {
        if (in_slabs) return slot();
        const auto packed = columns_contiguous() ? sizes.m * sizes.n : (sizes.n | 1) * sizes.m, line = 128 / size;
        return packed + ((lanes - packed) % line + line) % line;
    }
};

/// Parameters; substitute_layout.hpp says what each means.
batched_tile substitute_tile(std::int64_t products, std::int64_t threads, std::int64_t lanes, std::int64_t sides,
                             int stages, bool in_slabs);

/// A batch that candidates are in the order of, the same for nearly all, so that another batch needs no other kernel.
double rated_matrices(std::int64_t matrices, const machine& chip);

} // namespace ricci::lowering
