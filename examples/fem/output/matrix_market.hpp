// matrix_market: a sparse matrix as a file in the MatrixMarket exchange format, which scipy, PETSc and MATLAB read.
#pragma once

#include "examples/common/output_file.hpp"
#include "examples/fem/operators/sparse_matrix.hpp"

namespace fem {

enum class symmetry : std::uint8_t { general, symmetric };

/// `%%MatrixMarket matrix coordinate real`, numbers from 1, digits enough to read the same doubles back. `symmetric`
/// writes the lower triangle only, of a matrix that is symmetric up to rounding.
void write_matrix_market(const sparse_matrix& a, symmetry form, common::output_file& file);

} // namespace fem
