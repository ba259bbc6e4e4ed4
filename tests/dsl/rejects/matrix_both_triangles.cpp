// matrix_both_triangles: two options of which one is the opposite of the other.
// expect: two options of this call say the same or the opposite
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
#ifdef BROKEN
    triangular_solve(a(i, j), i, j, x(j), ricci::upper, ricci::lower);
#else
    triangular_solve(a(i, j), i, j, x(j), ricci::upper, ricci::unit_diagonal);
#endif
}
