// matrix_is_expression: a matrix that is not in memory.
// expect: an operand of a factorization or a solve is an access
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
#ifdef BROKEN
    solve(2 * a(i, j), i, j, x(j));
#else
    solve(conj(a(i, j)), i, j, x(j));
#endif
}
