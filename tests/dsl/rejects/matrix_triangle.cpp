// matrix_triangle: a triangular matrix of which nothing says which triangle it is.
// expect: triangular_solve wants to know which triangle is meant
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
#ifdef BROKEN
    triangular_solve(a(i, j), i, j, x(j));
#else
    triangular_solve(a(i, j), i, j, x(j), ricci::lower);
#endif
}
