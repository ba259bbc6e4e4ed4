// table_alone: a gathered position has no offset.
// expect: an index table stands alone in a position, as in A(i, p(e)): nothing computes with its entries
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 4>& c, const ricci::tensor<double, 9>& a, const ricci::tensor<int, 5>& p) {
#ifdef BROKEN
    c(e) = a(p(e(0, 4)) + 1);
#else
    c(e) = a(p(e + 1));
#endif
}
