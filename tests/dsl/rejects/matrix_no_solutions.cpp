// matrix_no_solutions: a solve of which nothing says for what.
// expect: this call lacks an operand
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
#ifdef BROKEN
    solve(a(i, j), i, j), (void)x;
#else
    solve(a(i, j), i, j, x(j));
#endif
}
