// comparison_of_sum: the sum must be a number before it is compared.
// expect: an expression with an index cannot be compared, and is no condition
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    while (a(i) * b(i) == 0) a(i) += 1;
#else
    while (double(a(i) * b(i)) == 0) a(i) += 1;
#endif
}
