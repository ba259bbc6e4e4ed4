// oracle_terms: a statement as the language reads it: ranges, and a sum of terms, each a product under its own
// summation.
#pragma once

#include "lowering/statement.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace ricci::tests {

struct term;
using term_sum = std::vector<term>;

/// An access, or a function of sums of terms.
struct factor {
    lowering::operation kind = lowering::operation::access;
    std::int32_t access = -1;
    bool conjugated = false;
    std::vector<term_sum> arguments;
    std::set<std::int32_t> labels;
    int accesses = 1; ///< in the source; one makes a function count as an access
};

/// sign * scalars * factors, summed over `summed`.
struct term {
    double sign = 1;
    std::vector<lowering::scalar> scalars;
    std::vector<factor> factors;
    std::vector<std::int32_t> summed;
    bool distributed = false; ///< made from a product of sums
};

/// The right side of `s`, with every summation placed. `left` are the indices of the left side.
term_sum terms_of(const lowering::statement& s, const std::set<std::int32_t>& left);

/// The labels of an access.
std::set<std::int32_t> labels_of(const lowering::statement& s, std::int32_t access);

/// The range [begin, end) of each label: as written, else the extent of its plain positions.
struct ranges {
    std::vector<std::int64_t> begin, end;
};
ranges ranges_of(const lowering::statement& s);

} // namespace ricci::tests
