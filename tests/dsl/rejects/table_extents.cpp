// table_extents: the index of a table runs over the table.
// expect: extents_of_an_index_agree<ricci::dsl::index_name<'e'>, 4, 5>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 4>& c, const ricci::tensor<double, 9>& a, const ricci::tensor<int, 5>& p,
               const ricci::tensor<int, 4>& q) {
#ifdef BROKEN
    c(e) = a(p(e));
#else
    c(e) = a(q(e));
    c(e) = a(p(e(0, 4)));
#endif
}
