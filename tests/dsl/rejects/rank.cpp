// rank: an access with two positions for a tensor of rank 3.
// expect: rank_of_the_tensor_is<2, 3>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 4, 4, 5>& A, ricci::tensor<double, 4, 4>& B) {
#ifdef BROKEN
    B(i, j) = A(i, j);
#else
    B(i, j) = A(i, j, 0);
#endif
}
