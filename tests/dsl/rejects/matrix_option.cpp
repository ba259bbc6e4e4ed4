// matrix_option: something that is no option of a call.
// expect: not an option of this call
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
#ifdef BROKEN
    solve(a(i, j), i, j, x(j), 5);
#else
    solve(a(i, j), i, j, x(j), ricci::unpivoted);
#endif
}
