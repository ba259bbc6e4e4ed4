// multiplied_in_place: there is no *=.
// expect: for *= or /= write A(i) = A(i)*B(i)
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    a(i) *= b(i);
#else
    a(i) = a(i) * b(i);
#endif
}
