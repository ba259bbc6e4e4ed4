// matrix_of_halves: an element type that no factorization has.
// expect: matrices that are factored or solved with hold float, double or std::complex of these
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<ricci::half, 3, 3>& a, ricci::tensor<float, 3, 3>& b) {
#ifdef BROKEN
    qr(a(i, j), i, j);
#else
    b(i, j) = a(i, j), qr(b(i, j), i, j);
#endif
}
