// view_strides: a view of rank 2 has two strides.
// expect: a view has as many extents, and strides, as its rank
#include "ricci.hpp"

void statement(const double* memory) {
#ifdef BROKEN
    ricci::view<const double, 2> v(memory, {6, 2}, {2}, ricci::cpu());
#else
    ricci::view<const double, 2> v(memory, {6, 2}, {2, 1}, ricci::cpu());
#endif
}
