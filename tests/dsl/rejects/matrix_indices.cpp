// matrix_indices: one index for rows and columns.
// expect: the matrix's rows and columns have two different indices
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3, 9>& a) {
#ifdef BROKEN
    lu(a(i, j, e), i, i);
#else
    lu(a(i, j, e), i, j);
#endif
}
