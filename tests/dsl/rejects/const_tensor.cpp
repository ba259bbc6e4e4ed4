// const_tensor: assignment to a tensor that is const here, through padded().
// expect: left_side_is_writable<false>
#include "ricci.hpp"
using namespace ricci::indices;

#ifdef BROKEN
using left = const ricci::tensor<double, 8>;
#else
using left = ricci::tensor<double, 8>;
#endif

void statement(left& a, const ricci::tensor<double, 8>& b) { padded(a)(i + 1) = b(i); }
