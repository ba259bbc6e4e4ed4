// gathered_left: where two entries are equal an element would be written twice.
// expect: gathered_left_is_distinct<false>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8, 9>& c, const ricci::tensor<double, 8, 5>& a, const ricci::tensor<int, 5>& p) {
#ifdef BROKEN
    c(i, p(e)) = a(i, e);
#else
    c(i, ricci::distinct(p)(e)) = a(i, e);
#endif
}
