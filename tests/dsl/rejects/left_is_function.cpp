// left_is_function: nor can a function's value.
// expect: left_side_is_an_access<
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, ricci::tensor<double, 8>& c) {
#ifdef BROKEN
    abs(a(i)) -= c(i);
#else
    a(i) -= abs(c(i));
#endif
}
