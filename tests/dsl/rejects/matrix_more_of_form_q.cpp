// matrix_more_of_form_q: an argument more than Q takes.
// expect: form_q takes tau(k, e) and Q(i, l, e), and nothing more
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x, ricci::tensor<double, 3, 3>& q, ricci::tensor<int>& info) {
#ifdef BROKEN
    form_q(a(i, j), i, j, x(k), q(i, l), info());
#else
    form_q(a(i, j), i, j, x(k), q(i, l)), (void)info;
#endif
}
