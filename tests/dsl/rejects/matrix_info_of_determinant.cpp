// matrix_info_of_determinant: an info for what log_determinant returns.
// expect: this call writes no info that is given
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<int>& info) {
#ifdef BROKEN
    log_determinant(a(i, j), i, j, info());
#else
    log_determinant(a(i, j), i, j, ricci::positive_definite), (void)info;
#endif
}
