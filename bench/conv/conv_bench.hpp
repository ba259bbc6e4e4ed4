// conv_bench: `ricci bench conv`, the convolutions of networks.
#pragma once

#include "bench/conv/problem.hpp"
#include "bench/session.hpp"

#include <string>
#include <vector>

namespace ricci::bench::conv {

/// As the command line gives them; see lists.hpp and layers.hpp.
struct options {
    std::string layers = "vgg16,resnet50", algorithms = "direct,f2,f4,f6", types = "f32";
    std::string batch; ///< empty: 32, on a CPU 1
};

/// All points of the options, in the order of types, layers, batches and algorithms. Throws ricci::error for a
/// mistake in the options.
std::vector<problem> points_of(const options& options, std::int64_t default_batch);

int run(const options& options, const session_options& session);

} // namespace ricci::bench::conv
