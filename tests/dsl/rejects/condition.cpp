// condition: an expression chooses nothing.
// expect: an expression with an index cannot be compared, and is no condition
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    a(i) = a(i) * b(i) ? 1 : 2;
#else
    a(i) = b(2) ? 1 : 2;
#endif
}
