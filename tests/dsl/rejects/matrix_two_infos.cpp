// matrix_two_infos: an info twice.
// expect: right-hand sides or an info are given twice
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x, ricci::tensor<int, 3>& p, ricci::tensor<int>& info) {
#ifdef BROKEN
    solve(a(i, j), i, j, x(j), info(), p(0));
#else
    solve(a(i, j), i, j, x(j), info()), (void)p;
#endif
}
