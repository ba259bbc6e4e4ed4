// table_of_numbers: the entries of an index table are integers.
// expect: an index table's entries are integers of 4 or 8 bytes: an expression of numbers, as in A(i, x(e)), is no position
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 5>& c, const ricci::tensor<double, 9>& a, const ricci::tensor<int, 5>& p,
               const ricci::tensor<double, 5>& x) {
#ifdef BROKEN
    c(e) = a(x(e));
#else
    c(e) = a(p(e)) + x(e);
#endif
}
