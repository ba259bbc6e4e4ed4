// matrix_solutions_left: what is solved for left of =, as in a text.
// expect: what a factorization or a solve writes stands among its arguments
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x, ricci::tensor<double, 3>& b) {
#ifdef BROKEN
    x(j) = solve(a(i, j), i, j, b(j));
#else
    solve(a(i, j), i, j, x(j), b(i));
#endif
}
