// matrix_fixed_row: a position where the index of the rows is wanted.
// expect: behind the matrix stand the indices of its rows and of its columns
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3, 9>& a) {
#ifdef BROKEN
    cholesky(a(0, j, e), 0, j);
#else
    cholesky(a(i, j, 0), i, j);
#endif
}
