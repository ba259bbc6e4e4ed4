// range_with_one_end: a range has two ends; the first element is a(0).
// expect: range_has_two_ends<1>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    a(i(2)) = b(i);
#else
    a(i(2, 3)) = b(i);
    a(2) = b(2);
#endif
}
