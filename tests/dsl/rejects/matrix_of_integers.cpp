// matrix_of_integers: an index table as a matrix.
// expect: matrices that are factored or solved with hold float, double or std::complex of these
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<int, 3, 3>& p, ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
#ifdef BROKEN
    solve(p(i, j), i, j, x(j)), (void)a;
#else
    solve(a(i, j), i, j, x(j)), (void)p;
#endif
}
