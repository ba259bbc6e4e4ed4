// cross_cases: statements that between them make the CPU's kernels meet sizes, types and layouts; few enough to be
// compiled for many machines.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "tests/kernels/covering.hpp"

#include <vector>

namespace ricci::tests {

struct cross_case {
    covering_case what;
    bool has_vector_loops = false; ///< its kernels for products are to multiply by vectors alone
    bool dynamic = false;          ///< with extents as arguments
    bool chained = false;          ///< all but what adds in order behind it is one chain
};

/// This run's part of them.
std::vector<cross_case> cross_cases();

/// As a case's kernels are made for a chip; for one eager to fuse where it is chained.
lowering::plan cross_plan(const cross_case& c, const lowering::statement& s, const lowering::machine& chip);

} // namespace ricci::tests
