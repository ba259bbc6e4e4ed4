// const_view: assignment to a view of const elements.
// expect: left_side_is_writable<false>
#include "ricci.hpp"
using namespace ricci::indices;

#ifdef BROKEN
using left = ricci::view<const double, 1>;
#else
using left = ricci::view<double, 1>;
#endif

void statement(left a, ricci::view<const double, 1> b) { a(i) += b(i); }
