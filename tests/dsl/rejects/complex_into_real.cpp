// complex_into_real: a complex right side, a real left side.
// expect: right_side_fits_left<ricci::lowering::scalar_type::c128, ricci::lowering::scalar_type::f64>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<std::complex<double>, 8>& z) {
#ifdef BROKEN
    a(i) = z(i) * conj(z(i));
#else
    a(i) = abs(z(i) * conj(z(i)));
#endif
}
