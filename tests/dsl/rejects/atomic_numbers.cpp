// atomic_numbers: atomic says something of an index table.
// expect: atomic is for index tables: tensors and views of integers
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 9>& c, const ricci::tensor<double, 5>& a, const ricci::tensor<int, 5>& p) {
#ifdef BROKEN
    c(ricci::atomic(a)(e)) += a(e);
#else
    c(ricci::atomic(p)(e)) += a(e);
#endif
}
