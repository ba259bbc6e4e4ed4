// factor_lanes_cholesky: A = L L^H, right-looking, a row a line (factor_lanes_rows.cuh).
//
// Column k is published before it is divided: then one reciprocal square root q, which every lane computes for
// itself, is all that lies between a step's barrier and its updates. Those of row i take (x_ik q) q conj(x_jk).
#pragma once

#include "factor_lanes_group.cuh"

/// Steps [First, First + panel), and all after them.
template <int First>
RICCI_FUNCTION void cholesky_steps(const lane_group& group, element (&x)[lines][n], row_places& places) {
    if constexpr (First < n) {
        constexpr int steps = smaller_of(panel, n - First);
        RICCI_UNROLL_ONCE
        for (int k = First; k < First + steps; ++k) {
            element* const line = group.line(k);
            RICCI_UNROLL
            for (int r = 0; r < lines; ++r)
                if (lane_group::width(r) > First)
                    if (const int i = group.row(r) - k; i >= 0 && group.row(r) < n) line[i] = x[r][0];
            group_barrier();
            const real square = real_of(line[0]);
            if (!(square > 0) && places.info == 0) places.info = k + 1;
            const real q = reciprocal_sqrt(square);
            element l[lines];
            RICCI_UNROLL
            for (int r = 0; r < lines; ++r)
                if (lane_group::width(r) > First) {
                    l[r] = scaled(x[r][0], q);
                    if (group.row(r) == k) l[r] = from_real<element>(square * q, 0);
                    if (group.row(r) >= k && group.has_row(r)) *group.place(r, k) = as_meant(l[r]);
                    l[r] = scaled(l[r], q);
                }
            each_behind_first<n - First>(line, [&](int j, element of_column) {
                RICCI_UNROLL
                for (int r = 0; r < lines; ++r)
                    if (j < lane_group::width(r) - First)
                        x[r][j - 1] = without_product(x[r][j], l[r], conjugate(of_column));
            });
        }
        cholesky_steps<First + steps>(group, x, places);
    }
}

RICCI_FUNCTION void cholesky_by_rows(const lane_group& group, element (&x)[lines][n], row_places& places) {
    cholesky_steps<0>(group, x, places);
}
