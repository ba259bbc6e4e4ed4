// missing_function: the C library's log would take the sum over i.
// expect: ricci has the functions conj, relu, exp, sqrt, abs, min and max, not this one
#include "ricci.hpp"

#include <cmath>
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    a(i) = log(b(i));
#else
    const double sum = b(i);
    a(i) = log(sum) + log(b(0)) + pow(b(0) * b(1), 2);
#endif
}
