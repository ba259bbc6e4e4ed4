// matrix_inverse_is_const: an inverse in place of what cannot be written.
// expect: the call writes an operand that is const
#include "ricci.hpp"
using namespace ricci::indices;

void statement(const ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3, 3>& y) {
#ifdef BROKEN
    inverse(a(i, j), i, j), (void)y;
#else
    inverse(a(i, j), i, j, y(j, i));
#endif
}
