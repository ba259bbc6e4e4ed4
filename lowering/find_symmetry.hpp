// find_symmetry: on a CPU, products whose result is the same, or its conjugate, with two of its axes exchanged.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Sets step::symmetry, and axis::mirrored of the two axes, where a step stores one product of accesses that is the
/// same product with the axes exchanged, since several of its factors are accesses to one tensor: C(i,j) =
/// A(k,i)*A(k,j), M(i,j,e) = B(q,i)*W(q,e)*B(q,j). The elements on one side of the diagonal say what is on the other.
plan find_symmetry(plan p, const statement& s);

/// Takes the marks from a step again.
void forget_symmetry(step& st);

} // namespace ricci::lowering
