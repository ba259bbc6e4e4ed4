// condition_of_access: nor does an access with an index.
// expect: an expression with an index cannot be compared, and is no condition
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    if (b(i)) a(i) = 1;
#else
    if (b(2)) a(i) = 1;
#endif
}
