// contraction: a step along one axis, such as b(q,r,k,e) = B(r,j)*a(q,j,k,e), as a batch of matrix products.
#pragma once

#include "bench/product.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace ricci::bench::fem {

struct contraction {
    product p;
    std::array<std::size_t, 3> access{}; ///< of A, B and C in the statement, whose first elements are theirs
};

/// Nothing where `s` is no product of a matrix, which comes first, and a dense tensor with one index in common.
/// Along the first axis it is one product of all columns, along others one for each value of all that lies behind.
std::optional<contraction> contraction_of(const lowering::statement& s);

} // namespace ricci::bench::fem
