// matrix_is_const: a factorization in place of what cannot be written.
// expect: the call writes an operand that is const
#include "ricci.hpp"
using namespace ricci::indices;

void statement(const ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
#ifdef BROKEN
    cholesky(a(i, j), i, j);
#else
    solve(a(i, j), i, j, x(j));
#endif
}
