// winograd_layout: convolutions by minimal filtering as one step, kernels/winograd.cuh: what stands where in it, and
// how a block of its kernel divides the work.
//
// Of step::tile, [0] is the number of directions, 1 or 2; of step::batched, tile_m is a block's filters, tile_n its
// tiles, threads all of them, stages those of the ring.
#pragma once

#include "lowering/cost_model.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace ricci::lowering {

/// The numbers of a winograd step's axes and operands. Axes: outputs of a tile (a, e), the tiles', the filters' k,
/// points (u, v), the channels' c, inputs of a tile (p, q).
struct winograd_roles {
    std::size_t directions = 2, tiles = 0;

    explicit winograd_roles(const step& st);
    std::size_t output(std::size_t d) const { return d; }
    std::size_t tile(std::size_t t) const { return directions + t; }
    std::size_t filter() const { return directions + tiles; }
    std::size_t point(std::size_t d) const { return filter() + 1 + d; }
    std::size_t channel() const { return filter() + 1 + directions; }
    std::size_t input(std::size_t d) const { return channel() + 1 + d; }

    // Operand 0 is O; others stand behind these.
    static constexpr std::size_t filters = 1, image = 2;
    std::size_t input_matrix(std::size_t d) const { return 3 + d; }
    std::size_t output_matrix(std::size_t d) const { return 3 + directions + d; }
};

/// How many of the outputs, points or inputs there are along a direction; 1 where there is no such.
std::int64_t winograd_extent(const step& st, std::size_t (winograd_roles::*axis)(std::size_t) const, std::size_t d);

/// The node that stands for the sum over points, whose subtree the kernel computes.
std::int32_t winograd_sum(const step& st);

/// Whether the inputs are transformed by the same matrix in both directions.
bool has_one_input_matrix(const step& st);

/// Of V and U: what the products are of.
scalar_type transformed_type(const step& st);
/// Channels that a stage holds.
std::int64_t channels_of_stage(scalar_type transformed);

struct winograd_layout {
    std::int64_t points = 0;
    int consumer_warps = 0;
    int consumer_registers = 0,
        producer_registers = 0; ///< of a thread, where one role's are given to the other; or 0
    std::int64_t filter_bytes = 0, stage_bytes = 0, shared_bytes = 0;
    std::int64_t stage_count = 0; ///< that the channels take
    std::int64_t tiles = 0, tile_blocks = 0, filter_blocks = 0;
    bool filters_nearest = false;     ///< whether neighbors in O are of neighboring k
    std::int64_t filters_of_pass = 0; ///< k of M that pass through a stage's memory at a time
    std::int64_t blocks(int processors) const {
        return std::min<std::int64_t>(tile_blocks * filter_blocks, processors);
    }
};
winograd_layout winograd_layout_of(const step& st, const batched_tile& t);

/// How a thread loads its inputs: vectors of so many neighbors, the first behind `lead` single ones, that are inside
/// of a padded image as a whole or not at all. Where the image's memory starts at a multiple of them.
struct input_vectors {
    int length = 1, lead = 0;
};
input_vectors input_vectors_of(const step& st);

/// Bytes of U as the kernel takes it.
std::int64_t winograd_workspace_bytes(const step& st, const batched_tile& t);

/// Whether blocks have not far more filters and channels than there are: elements of FEM, say, are better as a chain.
bool winograd_pays(const step& st);

/// What the kernel may be started with; none where a chip cannot run it.
std::vector<batched_tile> winograd_candidates(const step& st, const machine& chip);
/// What is read and written once, the products and transforms, and the roofline of both.
estimate winograd_cost(const step& st, const machine& chip);

/// Seconds, by the model; the fastest of them.
double winograd_seconds(const step& st, const batched_tile& t, const machine& chip);
std::optional<batched_tile> choose_winograd_tile(const step& st, const machine& chip);

} // namespace ricci::lowering
