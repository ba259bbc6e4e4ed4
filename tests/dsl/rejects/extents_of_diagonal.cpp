// extents_of_diagonal: a trace of what is not square.
// expect: extents_of_an_index_agree<ricci::dsl::index_name<'i'>, 3, 4>
#include "ricci.hpp"
using namespace ricci::indices;

double statement(const ricci::tensor<double, 3, 4>& A) {
#ifdef BROKEN
    return A(i, i);
#else
    return A(i(0, 3), i);
#endif
}
