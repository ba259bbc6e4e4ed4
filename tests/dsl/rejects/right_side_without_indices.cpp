// right_side_without_indices: a tensor is no expression.
// expect: a tensor stands with its indices, as in B(i)
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    a(i) = b;
#else
    a(i) = b(i);
#endif
}
