// matrix_without_indices: a matrix that stands without its indices.
// expect: the operands of a call stand with their indices
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a) {
#ifdef BROKEN
    auto [pivots, info] = lu(a, i, j);
#else
    auto [pivots, info] = lu(a(i, j), i, j);
#endif
}
