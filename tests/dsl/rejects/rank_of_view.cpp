// rank_of_view: too many positions.
// expect: rank_of_the_tensor_is<3, 2>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::view<float, 2> A, ricci::view<const float, 2> B) {
#ifdef BROKEN
    A(i, j) = B(i, j, 0);
#else
    A(i, j) = B(i, j);
#endif
}
