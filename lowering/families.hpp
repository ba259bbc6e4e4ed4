// families: the kernel families' parameters and limits, shared by choose_form and the kernels' preludes.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

// What step::tile means, by family (those of other kernels are in step::batched):
//   direct           {threads that share one element's sums where elements are few: 1, 32 or 256; elements a thread},
//                    on a GPU
//   tall_skinny_atb  {chunks the long axis is cut into; rows staged at once}, on a CPU
//   tall_skinny_ab   {rows a block, on a CPU}
//   winograd         {directions in which tiles lie: 1 or 2}, on a GPU
//   tile_transform   {the same; operands: what is transformed, by which matrices}, on a GPU

inline constexpr std::int64_t largest_small = 64;    ///< widths of the tall-skinny kernels
inline constexpr std::int64_t largest_batched = 128; ///< m, n, k of the batched kernels
inline constexpr std::int64_t least_neighbors = 16;  ///< products in a row, of batched_lanes with several batch axes
inline constexpr std::int64_t shortest_tall = 1024;  ///< the long axis of a tall-skinny product
/// long axis over width, at least; not of a GPU's tall_skinny_ab
inline constexpr std::int64_t tall_ratio = 32;
inline constexpr int direct_threads = 256;

/// The same product with X and Y, m and n in each other's place.
step with_sides_swapped(step st);

/// C (o: 0), X (1) or Y (2) of a product.
const operand& operand_of(const step& st, int o);

/// The product of the extents of the axes of one class.
std::int64_t extent_of(const step& st, axis_class c);
/// Of m, n and k.
std::int64_t largest_side(const step& st);

/// The axes of one class, in order.
std::vector<std::int32_t> axes_of(const step& st, axis_class c);

/// Whether axes of the class have an extent that a kernel takes as an argument: a tall-skinny product's long one.
bool is_long(const step& st, axis_class c);

/// Whether a tall-skinny product has columns along its long axis that lie anywhere: not at multiples of 16 bytes,
/// where the first does.
bool has_columns_off_lines(const step& st);
/// Whether it has columns that lie at multiples of 16 bytes, and not all of 32, a sector of a GPU's memory, where the
/// first does.
bool has_columns_off_sectors(const step& st);

/// The absolute stride of an operand from which on a kernel takes strides as arguments: an axis whose extent may
/// change (the batch, the long axis) lies within them; of a batch of one they may be as long as that axis's own.
std::int64_t least_changing_stride(const step& st, std::int32_t operand);

/// Whether a CPU's kernels load vectors of a type, as it is or widened: kernels/real_product.hpp.
constexpr bool loads_as_vector(scalar_type element, scalar_type compute) {
    return element == compute || (compute == scalar_type::f32 && size_of(element) == 2) ||
           (compute == scalar_type::f64 && element == scalar_type::f32);
}

/// An operand's step along the one axis of a class; 0 if it has several, or none.
std::int64_t single_step(const step& st, std::int32_t operand, axis_class c);

} // namespace ricci::lowering
