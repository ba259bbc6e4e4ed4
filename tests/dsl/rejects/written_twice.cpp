// written_twice: i = 0, j = 1 and i = 1, j = 0 reach the same element of the left side.
// expect: every_element_is_written_once<ricci::dsl::index_name<'i'>, ricci::dsl::index_name<'j'>, 8, 6>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 13>& C, const ricci::tensor<double, 8>& a, const ricci::tensor<double, 6>& b) {
#ifdef BROKEN
    C(i + j) += a(i) * b(j);
#else
    C(i) = a(i - j) * b(j);
#endif
}
