// atomic_left: atomic says how equal entries add up; = stores.
// expect: gathered_left_is_distinct<false>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8, 9>& c, const ricci::tensor<double, 8, 5>& a, const ricci::tensor<int, 5>& p) {
#ifdef BROKEN
    c(i, ricci::atomic(p)(e)) = a(i, e);
#else
    c(i, ricci::atomic(p)(e)) += a(i, e);
#endif
}
