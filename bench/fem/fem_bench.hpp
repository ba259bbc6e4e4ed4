// fem_bench: `ricci bench fem`, CEED's bake-off problems.
#pragma once

#include "bench/fem/problem.hpp"
#include "bench/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ricci::bench::fem {

/// As the command line gives them; see lists.hpp.
struct options {
    std::string numbers = "1..6", orders = "1..8", forms = "E,L", scatters = "ordered", types = "f64";
    std::string bytes;      ///< empty: 2GB, on a CPU 200MB
    std::int64_t cache = 0; ///< not 0: operands stay in the caches, and take so much at most
};

/// All points of the options, in the order of types, problems, forms, scatters and orders. Throws ricci::error for a
/// mistake in the options.
std::vector<problem> points_of(const options& options, std::int64_t default_bytes);

int run(options options, session_options session);

} // namespace ricci::bench::fem
