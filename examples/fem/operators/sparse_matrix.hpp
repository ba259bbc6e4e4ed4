// sparse_matrix: a matrix in compressed rows (CSR) in the global numbering, summed from element matrices on the
// device.
#pragma once

#include "examples/fem/space/h1_space.hpp"
#include "examples/fem/space/tables.hpp"

#include <cstdint>
#include <vector>

namespace fem {

/// Row r has columns[n] and values(n) for n in [row_starts[r], row_starts[r+1]), columns in order. All offsets are
/// 64-bit.
class sparse_matrix {
  public:
    /// The pattern of a space: entry (r,c) is there where some element has both nodes. Throws not_enough_memory.
    sparse_matrix(const h1_space& space, ricci::device device);

    std::int64_t rows() const { return static_cast<std::int64_t>(row_starts_.size()) - 1; }
    std::int64_t entries() const { return row_starts_.back(); }
    const std::vector<std::int64_t>& row_starts() const { return row_starts_; }
    const std::vector<std::int64_t>& columns() const { return columns_; }
    const vector& values() const { return values_; } ///< on the device

    /// The entries become the sums of the element matrices A(i,j,e).
    void assemble(const vector& element_matrices);

    double trace() const;
    double frobenius_norm() const;

  private:
    std::int64_t nodes_, elements_;
    std::vector<std::int64_t> row_starts_, columns_;
    vector values_;
    index_table places_; ///< (i,j,e): which entry an entry of an element's matrix is added to
};

} // namespace fem
