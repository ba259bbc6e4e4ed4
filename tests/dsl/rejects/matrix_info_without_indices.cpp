// matrix_info_without_indices: an info that stands without its indices.
// expect: the operands of a call stand with their indices
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<int>& info) {
#ifdef BROKEN
    cholesky(a(i, j), i, j, info);
#else
    cholesky(a(i, j), i, j, info());
#endif
}
