// cross_cases: statements that between them make the CPU's kernels meet sizes, types and layouts; few enough to be
// compiled for many machines.
#pragma once

#include "tests/kernels/covering.hpp"

#include <vector>

namespace ricci::tests {

struct cross_case {
    covering_case what;
    bool has_vector_loops = false; ///< its kernels for products are to multiply by vectors alone
    bool dynamic = false;          ///< with extents as arguments
};

std::vector<cross_case> cross_cases();

} // namespace ricci::tests
