// matrix_two_sides: right-hand sides twice.
// expect: right-hand sides or an info are given twice
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x, ricci::tensor<double, 3>& y, ricci::tensor<double, 3>& z) {
#ifdef BROKEN
    solve(a(i, j), i, j, x(j), y(i), z(i));
#else
    solve(a(i, j), i, j, x(j), y(i)), z(0) = 1;
#endif
}
