// unbounded: an index in affine positions only, without a range.
// expect: index_is_bounded<ricci::dsl::index_name<'r', 'o', 'w'>, false>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& O, const ricci::tensor<double, 10>& D) {
    ricci::index<"row"> row;
#ifdef BROKEN
    O(i) = D(i + row);
#else
    O(i) = D(i + row(0, 3));
#endif
}
