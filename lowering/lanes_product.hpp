// lanes_product: interleaved products as the models of their kernels see them, whatever the tile.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/product_sizes.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace ricci::lowering {

inline constexpr std::int64_t least_line = 64, longest_line = 1024; ///< bytes of neighbors: DRAM gives 64 at a time

/// 4-byte registers of so many bytes.
constexpr int registers_of(int bytes) { return (bytes + 3) / 4; }

/// Warps of an SM, each of whose four parts has registers of its own, given out by eights.
std::int64_t warps_with(std::int64_t registers);

struct lanes_product {
    explicit lanes_product(const step& st);

    product_sizes s;
    bool x_for_all, y_for_all, accumulates;
    double batches;
    int least_bytes;
    double x_taken, y_taken, c_taken; ///< bytes a product

    double multiplies() const { return s.complex ? 4 : 1; }
    int conversions() const { return (s.x_bytes == 2 ? 1 : 0) + (s.y_bytes == 2 ? 1 : 0); }
    /// As kernels/batched_lane_panels.cuh: whether a thread reads C at the start.
    bool reads_c_early(const batched_tile& t) const {
        return accumulates && t.tile_m * t.tile_n * (t.thread_products * s.words + c_registers(t)) <= 64;
    }
    int c_registers(const batched_tile& t) const { return registers_of(t.thread_products * s.c_bytes); }
};

/// Rows, columns and neighbors that a thread may have.
std::vector<std::array<std::int64_t, 3>> thread_tiles(const lanes_product& p);

/// Of a side's tiles, all or a part that a block may have: nearly equal parts.
std::vector<std::int64_t> parts_of(std::int64_t tiles);

} // namespace ricci::lowering
