// view_extents: a view of rank 2 has two extents.
// expect: a view has as many extents, and strides, as its rank
#include "ricci.hpp"

void statement(double* memory) {
#ifdef BROKEN
    ricci::view<double, 2> v(memory, {6});
#else
    ricci::view<double, 2> v(memory, {6, 1});
    ricci::view<double, 2> w(memory, {6, 1}, ricci::row_major);
#endif
}
