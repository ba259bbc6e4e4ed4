// choose_matrix_kernel: which kernel factors the matrices of a step, or solves with their factors.
#include "lowering/choose_matrix_kernel.hpp"

#include "lowering/choose_tile.hpp"
#include "lowering/error.hpp"
#include "lowering/factor_layout.hpp"
#include "lowering/matrix_sizes.hpp"
#include "lowering/print.hpp"
#include "lowering/temporaries.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>

namespace ricci::lowering {
namespace {

/// Gives the step the kernel, of those that can take it, that the model expects to be the fastest; false if there is
/// none.
bool take_fastest(step& st, const machine& chip, std::span<const family> kernels) {
    double least = INFINITY;
    auto best = st;
    for (const auto kernel : kernels) {
        st.kernel = kernel;
        const auto candidates = factor_candidates(st, chip);
        if (candidates.empty()) continue;
        if (const auto seconds = factor_seconds(st, candidates.front(), chip); seconds < least || least == INFINITY)
            best.kernel = kernel, best.batched = candidates.front(), least = seconds;
    }
    const bool found = least != INFINITY;
    st.kernel = best.kernel, st.batched = best.batched;
    return found;
}

bool take_kernel(step& st, const machine& chip) {
    constexpr family of_sizes[] = {family::factor_lanes, family::factor_block, family::factor_blocked};
    constexpr family general[] = {family::factor_block, family::factor_blocked};
    constexpr family with_factors[] = {family::substitute};
    if (st.matrices.task == matrix_task::substitute) return take_fastest(st, chip, with_factors);
    return take_fastest(st, chip, st.dynamic_extents ? std::span<const family>(general) : of_sizes);
}

/// A step that copies the matrices, which are factored in the copy from then on.
step copy_matrices(step& st, plan& p) {
    auto& here = st.operands[static_cast<std::size_t>(st.matrices.of(matrix_role::matrix))];
    auto copy = add_temporary(p, st.axes, here.present, here.type, {here});
    auto out = copy_step(st, copy, assignment::assign, here, here.type);
    here = std::move(copy);
    st.matrices.keeps_factors = true;
    p.notes.push_back("the matrices are copied, and factored in the copy");
    return out;
}

} // namespace

std::vector<step> choose_matrix_kernel(step st, plan& p, const machine& chip, const priors& known,
                                       bool dynamic_extents) {
    std::vector<step> out;
    const auto sizes = matrix_sizes_of(st);
    const bool is_empty = sizes.vector() == 0; // there are an info and perhaps solutions to write
    st.dynamic_extents = dynamic_extents || is_empty;
    bool found = take_kernel(st, chip);
    if (!found && dynamic_extents && !is_empty) st.dynamic_extents = false, found = take_kernel(st, chip);
    if (!found && st.matrices.task == matrix_task::factor && !st.matrices.keeps_factors) {
        out.push_back(copy_matrices(st, p));
        found = take_kernel(st, chip);
    }
    if (!found && chip.has_compiler && sizes.matrices > 0)
        throw error(fmt::format("no kernel for this device takes matrices of {} x {} in {} with {} right-hand sides",
                                sizes.m, sizes.n, name_of(st.compute), sizes.r),
                    blame::environment);
    if (found && !st.dynamic_extents) choose_tile(st, chip, known);
    if (const auto bytes = found ? factor_workspace_bytes(st, st.batched, chip) : 0; bytes > 0) {
        st.workspace = {-1 - static_cast<std::int32_t>(p.temporaries.size()), bytes};
        constexpr std::int64_t unit = size_of(scalar_type::c128);
        p.temporaries.push_back({scalar_type::c128, (bytes + unit - 1) / unit});
    }
    out.push_back(std::move(st));
    return out;
}

} // namespace ricci::lowering
