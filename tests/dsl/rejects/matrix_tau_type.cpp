// matrix_tau_type: a tau of another type than the matrix.
// expect: right-hand sides, solutions and tau have the matrix's element type
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x, ricci::tensor<float, 3>& y) {
#ifdef BROKEN
    qr(a(i, j), i, j, y(k)), (void)x;
#else
    qr(a(i, j), i, j, x(k)), (void)y;
#endif
}
