// matrix_info_of_numbers: an info that is a number.
// expect: an info is of integers
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<int>& info, ricci::tensor<double>& number) {
#ifdef BROKEN
    cholesky(a(i, j), i, j, number()), (void)info;
#else
    cholesky(a(i, j), i, j, info()), (void)number;
#endif
}
