// operand_without_indices: nor is it an operand of one.
// expect: a tensor in an expression stands with its indices, as in 2*B(i)
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    a(i) += 2 * b;
#else
    a(i) += 2 * b(i);
#endif
}
