// matrix_foreign_option: an option of another call.
// expect: this call has no such option
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a) {
#ifdef BROKEN
    cholesky(a(i, j), i, j, ricci::upper);
#else
    cholesky(a(j, i), i, j);
#endif
}
