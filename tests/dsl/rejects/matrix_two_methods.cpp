// matrix_two_methods: a solve that is to be done in two ways.
// expect: two options of this call say the same or the opposite
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
#ifdef BROKEN
    solve(a(i, j), i, j, x(j), ricci::positive_definite, ricci::unpivoted);
#else
    solve(a(i, j), i, j, x(j), ricci::positive_definite);
#endif
}
