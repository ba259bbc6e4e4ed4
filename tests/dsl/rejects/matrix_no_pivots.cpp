// matrix_no_pivots: a solve with the factors of lu that lacks its pivots.
// expect: lu_solve takes the pivots that lu left
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
    auto [pivots, info] = lu(a(i, j), i, j);
#ifdef BROKEN
    lu_solve(a(i, j), i, j, x(j));
#else
    lu_solve(a(i, j), i, j, pivots(k), x(j));
#endif
}
