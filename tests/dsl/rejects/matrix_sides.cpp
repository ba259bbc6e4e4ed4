// matrix_sides: right-hand sides of a call that solves nothing.
// expect: this call takes no right-hand sides
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
#ifdef BROKEN
    cholesky(a(i, j), i, j, x(i));
#else
    cholesky(a(i, j), i, j), cholesky_solve(a(i, j), i, j, x(j));
#endif
}
