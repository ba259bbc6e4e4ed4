// table_of_table: one table after the other.
// expect: the positions of an index table, and the last of a pointer_view, cannot be gathered themselves
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 5>& c, const ricci::tensor<double, 9>& a, const ricci::tensor<int, 5>& p) {
#ifdef BROKEN
    c(e) = a(p(p(e)));
#else
    c(e) = a(p(int(p(1))));
#endif
}
