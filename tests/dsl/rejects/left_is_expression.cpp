// left_is_expression: a sum cannot be assigned to.
// expect: left_side_is_an_access<
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, ricci::tensor<double, 8>& b, ricci::tensor<double, 8>& c) {
#ifdef BROKEN
    a(i) + b(i) = c(i);
#else
    a(i) = c(i) - b(i);
#endif
}
