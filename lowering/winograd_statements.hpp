// winograd_statements: the three statements of a convolution by minimal filtering as one step.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/tile_transform.hpp"

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

/// What they have in common. By direction, the one that is nearest in the output first: the matrices of V's sum and of
/// O's. U and D among their statements' operands; axes of M's statement: the channels', the filters', and those of
/// tiles, the nearest in the output first.
struct winograd_structure {
    std::vector<transform_matrix> before, behind;
    std::int32_t u = 0, d = 0, channel = 0, filter = 0;
    std::vector<std::int32_t> tiles;
};

struct winograd_whole {
    winograd_structure structure;
    step convolution;                   ///< of family::winograd, its sources those of the statements; without a tile
    std::vector<winograd_part> part_of; ///< by operand
};

/// None where they are no such statements, or the kernel's arrays, bits and 32-bit numbers do not hold what it would
/// need: matrices of more than 8 rows or columns, more than 2^31 tiles times filters.
std::optional<winograd_whole> as_one_step(const winograd_statements& all);

} // namespace ricci::lowering
