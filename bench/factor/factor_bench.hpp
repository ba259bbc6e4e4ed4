// factor_bench: `ricci bench factor`, factorizations of the matrices of a batch, and solves with them.
#pragma once

#include "bench/factor/problem.hpp"
#include "bench/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ricci::bench::factor {

/// As the command line gives them; see lists.hpp.
struct options {
    std::string routines = "cholesky,lu,qr", types = "f64";
    std::string sizes = "2..32,48,64,128,256,512"; ///< m = n
    std::string shapes;      ///< "MxN", not of all routines; where there are some, sizes are not taken
    std::string sides = "1"; ///< right-hand sides of each solve, a list
    std::string batch;       ///< a list; empty: as many as take `bytes`
    std::string bytes;       ///< memory traffic of a point; empty: the default
};

/// All points of the options, in the order of routines (factorizations first), types (f64 first), sizes, right-hand
/// sides and batches. Throws
/// ricci::error for a mistake in the options.
std::vector<problem> points_of(const options& options, std::int64_t default_bytes);

int run(const options& options, const session_options& session);

} // namespace ricci::bench::factor
