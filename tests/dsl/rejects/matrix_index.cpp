// matrix_index: an index that the matrix does not have.
// expect: the index of the matrix's rows or columns does not stand in the matrix
#include "ricci.hpp"
using namespace ricci::indices;

void statement(ricci::tensor<double, 3, 3, 9>& a) {
#ifdef BROKEN
    cholesky(a(i, j, e), i, k);
#else
    cholesky(a(i, j, e), i, j);
#endif
}
