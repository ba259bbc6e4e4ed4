// covering: a list of statements that between them make every kernel family meet every type and layout.
#pragma once

#include "lowering/machine.hpp"
#include "tests/kernels/matrix_problem.hpp"
#include "tests/random_statement.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ricci::tests {

struct covering_case {
    std::string statement;
    std::string operands; ///< as for parse_operands; index tables are filled with valid entries
    bool by_address = false; ///< the last position of every access, a batch, is by addresses
    lowering::math_mode math = lowering::math_mode::full;
    int behind = 0; ///< bytes that each operand begins behind a multiple of 16
};

/// The list; with covering_problems at most 300 kernels.
std::vector<covering_case> covering_list();

/// The same of factorizations and solves: every kernel, type and layout of each.
std::vector<matrix_problem> covering_problems();

/// Memory full of small integers, whose products are exact, so that one product lost or doubled is seen.
random_case make_case(const covering_case& c, std::uint64_t seed);

/// The sources and entries of all kernels that both lists need on a chip, each once.
std::set<std::pair<std::string, std::string>> covering_sources(const lowering::machine& chip);

} // namespace ricci::tests
