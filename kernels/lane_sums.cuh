// lane_sums: the sums of a thread's tile of one interleaved product, or of the same tile of a few neighbors.
//
// Constants: product.hpp's, and
//   products_per_thread    neighbors
//   tile_m, tile_n         elements of each product a thread
#pragma once

#include "product.hpp"

using lane_sums = compute[tile_m][tile_n][products_per_thread];

RICCI_FUNCTION void clear_lanes(lane_sums& sums) {
    RICCI_UNROLL
    for (int r = 0; r < tile_m; ++r)
        RICCI_UNROLL
        for (int s = 0; s < tile_n; ++s)
            RICCI_UNROLL
            for (int e = 0; e < products_per_thread; ++e) sums[r][s][e] = from_real<compute>(0, 0);
}

/// Adds one step of the sum.
RICCI_FUNCTION void add_lanes(lane_sums& sums, const compute (&xs)[tile_m][products_per_thread],
                              const compute (&ys)[tile_n][products_per_thread]) {
    RICCI_UNROLL
    for (int r = 0; r < tile_m; ++r)
        RICCI_UNROLL
        for (int s = 0; s < tile_n; ++s)
            RICCI_UNROLL
            for (int e = 0; e < products_per_thread; ++e) add_product(sums[r][s][e], xs[r][e], ys[s][e]);
}
