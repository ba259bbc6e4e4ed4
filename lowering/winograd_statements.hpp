// winograd_statements: the three statements of a convolution by minimal filtering as one step.
#pragma once

#include "lowering/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ricci::lowering {

/// V = Bt*Bt*D, M = U*V and O = tree(At*At*M), each as scope_sums left it, in f32; which of the accesses of the last
/// two are V and M; and by which axes each goes through the locals, one a dimension.
struct winograd_statements {
    step inputs, product, outputs;
    std::size_t v = 0, m = 0; ///< operands of `product` and of `outputs`
    std::vector<std::int32_t> v_written, v_read, m_written, m_read;
};

/// Of which of the three an operand is.
enum class winograd_part : std::uint8_t { inputs, product, outputs };

struct winograd_whole {
    step convolution;                   ///< of family::winograd, its sources those of the statements; without a tile
    std::vector<winograd_part> part_of; ///< by operand
};

/// None where they are no such statements, or the kernel's arrays, bits and 32-bit numbers do not hold what it would
/// need: matrices of more than 8 rows or columns, more than 2^31 tiles times filters.
std::optional<winograd_whole> as_one_step(const winograd_statements& all);

} // namespace ricci::lowering
