// scope_sums: says where each summation stands.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Distributes products over sums where an index is summed, turns quotients into products with reciprocals there,
/// moves conj to the leaves, and gives every index that is not on the left to a `sum` node over the smallest product
/// (or single access) that holds all its occurrences in the term. A function of one access counts as an access; in
/// other functions sums are taken inside. Refuses (with the statement printed) a product that distributes into more
/// than 1024 terms.
plan scope_sums(plan p, const statement& s);

} // namespace ricci::lowering
