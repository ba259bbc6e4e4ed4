// comparison: an elementwise test, which would be one of the sums.
// expect: an expression with an index cannot be compared, and is no condition
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    a(i) = b(i) > 0;
#else
    a(i) = b(1) > 0 && b(1) * b(1) <= 3 && b(0) != b(1);
#endif
}
