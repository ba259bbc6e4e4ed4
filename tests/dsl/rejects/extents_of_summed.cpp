// extents_of_summed: an index that is summed has two extents, both on the right.
// expect: extents_of_an_index_agree<ricci::dsl::index_name<'k'>, 5, 6>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<float, 3, 7>& C, const ricci::tensor<float, 3, 5>& A,
               const ricci::tensor<float, 6, 7>& B) {
#ifdef BROKEN
    C(i, j) = A(i, k) * B(k, j);
#else
    C(i, j) = A(i, k(0, 5)) * B(k, j);
#endif
}
