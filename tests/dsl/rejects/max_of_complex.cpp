// max_of_complex: the same where only one argument is complex.
// expect: argument_has_an_order<ricci::lowering::operation::max, ricci::lowering::scalar_type::c128>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<std::complex<double>, 8>& z, const ricci::tensor<double, 8>& a) {
#ifdef BROKEN
    z(i) = max(a(i), z(i));
#else
    z(i) = max(a(i), 2);
#endif
}
