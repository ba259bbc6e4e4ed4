// written_twice_by_table: two indices that read the same entry.
// expect: every_element_is_written_once<
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 9>& c, const ricci::tensor<double, 2, 3>& a, const ricci::tensor<int, 2, 3>& q,
               [[maybe_unused]] const ricci::tensor<int, 4>& p) {
#ifdef BROKEN
    c(ricci::distinct(p)(i + j)) = a(i, j);
#else
    c(ricci::distinct(q)(i, j)) = a(i, j);
#endif
}
