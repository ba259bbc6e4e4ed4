// matrix_option_first: an option in front of an operand.
// expect: options and info stand behind the operands of a call
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3>& a, ricci::tensor<double, 3>& x) {
#ifdef BROKEN
    solve(a(i, j), i, j, ricci::unpivoted, x(j));
#else
    solve(a(i, j), i, j, x(j), ricci::unpivoted);
#endif
}
