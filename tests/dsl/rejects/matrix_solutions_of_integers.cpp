// matrix_solutions_of_integers: integers where numbers are solved for.
// expect: integers stand where this call takes numbers
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x, ricci::tensor<int, 3>& p) {
#ifdef BROKEN
    solve(a(i, j), i, j, p(j)), (void)x;
#else
    solve(a(i, j), i, j, x(j)), (void)p;
#endif
}
