// written_twice_difference: the same with a minus sign, in two positions.
// expect: every_element_is_written_once<ricci::dsl::index_name<'i'>, ricci::dsl::index_name<'j'>, 3, 4>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 7, 7>& C, const ricci::tensor<double, 3, 4>& a) {
#ifdef BROKEN
    C(i - j + 3, j - i + 2) = a(i, j);
#else
    C(i - j + 3, j + i) = a(i, j);
#endif
}
