// random_matrix_problem: factorizations and solves from a seed, and their run on any device.
#pragma once

#include "tests/kernels/matrix_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ricci::tests {

/// The problem of this seed, the same on every machine: any routine, type and kind of matrices, sizes to 40 and some
/// larger, right-hand sides, none to two axes of the batch, layouts of every kind.
matrix_problem make_random_problem(std::uint64_t seed);

/// Runs problems one after another; returns what was wrong with the first few that failed, and their seeds.
/// RICCI_TEST_SEED sets the first seed (1).
std::string run_random_problems(std::size_t count, std::int32_t device);

} // namespace ricci::tests
