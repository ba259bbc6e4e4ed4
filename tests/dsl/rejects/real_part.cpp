// real_part: the language has no real and imag.
// expect: ricci has the functions conj, relu, exp, sqrt, abs, min and max, not this one
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<std::complex<double>, 8>& z) {
#ifdef BROKEN
    a(i) = real(z(i));
#else
    a(i) = abs(z(i));
#endif
}
