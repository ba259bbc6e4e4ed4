// gathered_case: index tables for test cases: their entries, and plain positions turned into gathered ones.
#pragma once

#include "tests/random_statement.hpp"

#include <cstddef>
#include <cstdint>
#include <random>

namespace ricci::tests {

/// Gives all index tables of a statement in host memory random entries that are valid positions; all different where
/// the statement promises it.
void fill_tables(const lowering::statement& s, std::mt19937_64& random);

/// Access `a` takes position `p` from a new table of integers, whose entries are random; of the left all
/// different, or not where equal ones add up.
void gather_by_table(random_case& c, std::size_t a, std::int32_t p, lowering::scalar_type type,
                     std::mt19937_64& random);

/// The same elements, found by the addresses of what lies at each value of position `p`.
void gather_by_address(random_case& c, std::size_t a, std::int32_t p);

} // namespace ricci::tests
