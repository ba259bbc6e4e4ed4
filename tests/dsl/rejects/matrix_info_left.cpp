// matrix_info_left: an info left of =, as in a text.
// expect: what a factorization or a solve writes stands among its arguments
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<int>& info) {
#ifdef BROKEN
    info() = cholesky(a(i, j), i, j);
#else
    cholesky(a(i, j), i, j, info());
#endif
}
