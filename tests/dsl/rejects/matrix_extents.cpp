// matrix_extents: sides whose extent is not that of the matrix.
// expect: an index without a range stands in two positions whose extents differ
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 4>& x, ricci::tensor<double, 3>& y) {
    solve(a(i, j), i, j, y(j));
#ifdef BROKEN
    solve(a(i, j), i, j, x(j));
#else
    x(0) = 1;
#endif
}
