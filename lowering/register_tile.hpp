// register_tile: the parameters of a CPU's kernel for small products, kernels/register_tile_cpu.hpp: which side its
// vectors run along, the tiles of C that are summed in registers, and what a model of the core expects of them.
//
// Of step::batched, tile_m is a tile's vectors, tile_n its columns and k_unrolled the steps of the sum without a
// jump, 0 for all; products, where more than one, a group of packed_products.hpp; stages,
// how many products ahead X and Y are fetched, 0 for none.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// The product or the same with its sides swapped, so that vectors along m suit it: C's elements along m lie beside
/// one another, or m is the longer side.
step with_vectors_along_m(step st);

/// The same for X's elements along m: of X and Y the one whose elements along its columns are neighbors plays X.
step with_vectors_along_m_of_x(step st);

/// Whether a product has one column, and X and Y lie along the sum: kernels/row_sums_cpu.hpp, which has no tiles.
bool adds_along_k(const step& st);

/// Whether L1 has room for the next product's X and Y beside those at work, so that they can be fetched ahead.
bool fits_near(const step& st);

/// All tiles whose sums fit the registers.
std::vector<batched_tile> register_tiles(const step& st, const machine& chip);

/// Seconds for all products of a step, by the busiest of multipliers, load and store ports, latency and memory.
std::vector<double> register_tile_seconds(const step& st, const std::vector<batched_tile>& tiles,
                                          const machine& chip);

/// The same of batched_lanes on a CPU, kernels/batched_lanes_cpu.hpp: tile_m rows by tile_n columns, each a vector of
/// neighboring products.
std::vector<batched_tile> neighbor_tiles(const step& st, const machine& chip);
/// Of the copies of X and Y that it keeps on the stack.
std::int64_t neighbor_copy_bytes(const step& st, const machine& chip);
std::vector<double> neighbor_tile_seconds(const step& st, const std::vector<batched_tile>& tiles,
                                          const machine& chip);

} // namespace ricci::lowering
