// enlarge: a network over a whole photograph, tile by tile.
#pragma once

#include "examples/cnn/image/picture.hpp"
#include "examples/cnn/network/network.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace cnn {

struct enlarged {
    picture image;
    std::vector<float> numbers; ///< what the network gave: x fastest, then y, then colours; empty unless wanted
    std::int64_t tiles = 0;
};

/// Takes parts of tile x tile pixels through the network, each with the pixels around it that its result depends on
/// (graph::halo), so that the result is that of the whole photograph, but for the order of sums. All parts have one
/// size. `progress` is called before each tile with how many are done, and how many there are.
enlarged enlarge(network& run, const graph& g, const picture& photograph, std::int64_t tile, bool keep_numbers,
                 const std::function<void(std::int64_t, std::int64_t)>& progress = {});

} // namespace cnn
