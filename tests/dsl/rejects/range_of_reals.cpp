// range_of_reals: the ends of a range are integers; 2.9 would quietly be 2.
// expect: range_ends_are_integers<int, double>
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 8>& a, const ricci::tensor<double, 8>& b) {
#ifdef BROKEN
    a(i(0, 2.9)) = b(i);
#else
    a(i(0, std::size_t{2})) = b(i);
#endif
}
