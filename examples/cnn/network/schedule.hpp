// schedule: in which steps a graph is run, and where each result lies, in memory that is used again.
#pragma once

#include "examples/cnn/network/graph.hpp"

#include <cstdint>
#include <vector>

namespace cnn {

/// One operation; a convolution takes the relu behind it along, if nothing else reads the convolution.
struct step {
    int op = 0;
    int result = 0; ///< the operation whose result it gives: op, or the relu behind it
    bool relu = false;
};

/// Where a result lies: from so many channels on in memory that it may share with the other parts of a concat.
struct place {
    int memory = -1;
    int first_channel = 0;
};

struct schedule {
    std::vector<step> steps;
    std::vector<place> places;          ///< for each operation; those that only a relu reads have none
    std::vector<std::int64_t> memories; ///< how many numbers each has for one pixel of the input

    /// Whether `input` was computed in its place within the concat `whole`, and so needs no copy.
    bool in_place(int input, int whole, int first_channel) const {
        return places[input].memory == places[whole].memory &&
               places[input].first_channel == places[whole].first_channel + first_channel;
    }
};

schedule make_schedule(const graph& g);

} // namespace cnn
