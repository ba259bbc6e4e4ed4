// extents: the static extents of an index differ.
// expect: extents_of_an_index_agree<ricci::dsl::index_name<'e', 'l'>, 8, 9>
#include "ricci.hpp"
using namespace ricci::indices;

#ifdef BROKEN
inline constexpr int elements = 9;
#else
inline constexpr int elements = 8;
#endif

void statement(ricci::tensor<double, 4, 8>& A, ricci::tensor<double, 4, elements>& B) {
    ricci::index<"el"> el;
    A(i, el) = 2 * B(i, el);
}
