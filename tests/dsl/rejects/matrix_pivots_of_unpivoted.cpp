// matrix_pivots_of_unpivoted: pivots of an LU without any.
// expect: pivots are given, and unpivoted is said
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x, ricci::tensor<int, 3>& p, ricci::tensor<int>& info) {
#ifdef BROKEN
    lu_solve(a(i, j), i, j, p(k), x(j), ricci::unpivoted), (void)info;
#else
    lu_solve(a(i, j), i, j, p(k), x(j), info());
#endif
}
