// relu_of_complex: complex numbers have no order.
// expect: argument_has_an_order<ricci::lowering::operation::relu, ricci::lowering::scalar_type::c64>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<std::complex<float>, 8>& z) {
#ifdef BROKEN
    z(i) = relu(z(i));
#else
    z(i) = relu(abs(z(i)));
#endif
}
