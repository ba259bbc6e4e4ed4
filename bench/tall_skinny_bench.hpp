// tall_skinny_bench: sweeps over products with one long side.
#pragma once

#include "bench/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ricci::bench {

/// As the command line gives them; see lists.hpp.
struct tall_skinny_options {
    std::string kinds = "atb,ab", heights = "2^22", widths = "1..64";
    std::string types = "f64", orders = "column", betas = "0";
    std::int64_t padding = 0, offset = 0;
};

/// One point of a sweep.
struct tall_point {
    tall_kind kind = tall_kind::atb;
    std::int64_t height = 0;
    shape widths; ///< m and n of A^T*B; k and n of A*B, as m and n
    type_pair types;
    bool by_column = true, accumulate = false;
    bool operator==(const tall_point&) const = default;
};

/// All points, in the order of kinds, types, orders, betas, heights and widths. Throws ricci::error for a mistake.
std::vector<tall_point> points_of(const tall_skinny_options& options);

int run_tall_skinny(const tall_skinny_options& options, session_options session);

} // namespace ricci::bench
