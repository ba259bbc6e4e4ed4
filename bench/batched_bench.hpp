// batched_bench: sweeps over batches of small products, or a random sample of them.
#pragma once

#include "bench/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ricci::bench {

/// As the command line gives them; see lists.hpp.
struct batched_options {
    std::string sizes, shapes; ///< both empty: 1..32; for a sample 1..128
    std::string types = "f64", transpositions = "NN", betas = "1", layouts = "contiguous";
    std::string batch; ///< empty: as many as take `bytes`
    std::string bytes; ///< empty: 2GB, on a CPU 200MB
    std::int64_t padding = 0, offset = 0;
    int sample = 0; ///< points to draw; 0: all
    std::uint64_t seed = 1;
    bool rectangular = false; ///< a sample draws m, n and k apart
    bool full = false;        ///< a sample draws no batch: each point takes all of `bytes`
    /// Not 0: operands stay in the caches, and each point has as many products as take so much memory.
    std::int64_t cache = 0;
};

/// One point of a sweep.
struct batched_point {
    shape size;
    type_pair types;
    operations ops;
    bool accumulate = true;
    layout order = layout::contiguous;
    std::int64_t batch = 1;
    bool operator==(const batched_point&) const = default;
};

/// All points of the options, in the order of types, transpositions, betas, layouts, sizes and batches; or the
/// sample: every choice and every part of the range of sizes and of batches (by magnitude, to 10^5) as often as any
/// other, paired at random by the seed. `bytes` is the most that a point may take. Throws ricci::error for a mistake
/// in the options.
std::vector<batched_point> points_of(const batched_options& options, std::int64_t default_bytes);

int run_batched(batched_options options, session_options session);

} // namespace ricci::bench
