// matrix_side_type: right-hand sides of another type than the matrix.
// expect: right-hand sides, solutions and tau have the matrix's element type
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<float, 3>& x, ricci::tensor<double, 3>& y) {
    solve(a(i, j), i, j, y(j));
#ifdef BROKEN
    solve(a(i, j), i, j, x(j));
#else
    x(0) = 1;
#endif
}
