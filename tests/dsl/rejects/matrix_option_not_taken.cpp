// matrix_option_not_taken: an option of another call, where this one takes operands.
// expect: this call has no such option
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a) {
#ifdef BROKEN
    lu(a(i, j), i, j, ricci::positive_definite);
#else
    lu(a(i, j), i, j, ricci::unpivoted);
#endif
}
