// matrix_rows_not_named: a matrix of which nothing says what its rows and columns are.
// expect: behind the matrix stand the indices of its rows and of its columns
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3, 9>& a) {
#ifdef BROKEN
    cholesky(a(i, j, e));
#else
    cholesky(a(i, j, e), i, j);
#endif
}
