// complex_scalar_into_real: the scalar alone makes the right side complex.
// expect: right_side_fits_left<ricci::lowering::scalar_type::c64, ricci::lowering::scalar_type::f32>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<float, 8>& a, const ricci::tensor<float, 8>& b) {
#ifdef BROKEN
    a(i) += std::complex<float>(0, 1) * b(i);
#else
    a(i) += 2 * b(i);
#endif
}
