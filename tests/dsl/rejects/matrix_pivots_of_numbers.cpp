// matrix_pivots_of_numbers: pivots that are numbers.
// expect: pivots are integers
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x, ricci::tensor<std::int64_t, 3>& p) {
#ifdef BROKEN
    lu(a(i, j), i, j, x(k)), (void)p;
#else
    lu(a(i, j), i, j, p(k)), (void)x;
#endif
}
