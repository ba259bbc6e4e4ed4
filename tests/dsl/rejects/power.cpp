// power: ^ is no power.
// expect: expressions have the operators +, -, * and /
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    a(i) = b(i) ^ 2;
#else
    a(i) = b(i) * b(i);
#endif
}
