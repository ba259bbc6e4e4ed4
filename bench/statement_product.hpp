// statement_product: the batch of matrix products that a statement is, where it is one; for peers and the check.
#pragma once

#include "bench/product.hpp"

#include <ricci/lowering/machine.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace ricci::bench {

/// A product whose A, B and C are accesses of a statement.
struct statement_product {
    product p;
    std::array<std::int32_t, 3> access{}; ///< of A, B, C
    std::array<std::int64_t, 3> offset{}; ///< elements from the access's data to the matrix's first
};

/// Nothing where the statement is lowered to anything but one product of two accesses with at most one index each of
/// m, n, k and the batch, a coefficient of 1, and a left side that stands on the left alone and is used from its
/// first element on. Throws ricci::error for a mistake in the statement.
std::optional<statement_product> product_of(const lowering::statement& s, const lowering::machine& chip);

} // namespace ricci::bench
