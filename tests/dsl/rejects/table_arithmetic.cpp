// table_arithmetic: an entry is a position, and no number.
// expect: an index table stands alone in a position, as in A(i, p(e)): nothing computes with its entries
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 5>& c, const ricci::tensor<double, 9>& a, const ricci::tensor<int, 5>& p) {
#ifdef BROKEN
    c(e) = a(e) * p(e);
#else
    c(e) = a(p(e)) * int(p(2));
#endif
}
