// matrix_info_of_q: an info of what cannot fail.
// expect: this call writes no info that is given
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x, ricci::tensor<double, 3>& y, ricci::tensor<int>& info) {
#ifdef BROKEN
    apply_q(a(i, j), i, j, x(k), y(i), info());
#else
    apply_q(a(i, j), i, j, x(k), y(i)), (void)info;
#endif
}
