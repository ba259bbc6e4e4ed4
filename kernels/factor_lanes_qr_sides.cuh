// factor_lanes_qr_sides: R x = Q^H b, solved in shared memory by a matrix's lanes.
#pragma once

#include "factor_lanes_qr_scaled.cuh"

/// 1/x; 0 for 0; NaN where that is to be found by division.
RICCI_FUNCTION element inverse_for_solving(element x) {
    const real zero = 0, nan = zero / zero;
    if (largest_part(x) == 0) return from_real<element>(0, 0);
    return is_safe(squared(x)) ? reciprocal_of(x) : from_real<element>(nan, is_complex ? nan : 0);
}

/// Columns of R from the last on. Returns LAPACK's info; NaN are the solutions where it is not 0. inverses: memory
/// for n elements, of the matrix; not used by a single lane.
RICCI_FUNCTION int solve_sides(const element* r_factor, element* right, element* inverses, int lane, bool exists) {
    const auto inverse_of = [&](int k) {
        return one_lane ? inverse_for_solving(as_meant(r_factor[offset_in_shared(k, k)])) : inverses[k];
    };
    const auto divided = [&](element y, element inverse, int k) {
        const bool is_number = real_of(inverse) == real_of(inverse);
        return is_number ? y * inverse : y / as_meant(r_factor[offset_in_shared(k, k)]);
    };
    if constexpr (!one_lane) {
        // all at once: on the way from one column to the next they would be waited for
        RICCI_UNROLL_ONCE
        for (int k = lane; k < n; k += lanes_at_work)
            if (exists) inverses[k] = inverse_for_solving(as_meant(r_factor[offset_in_shared(k, k)]));
        meet();
    }
    int info = 0;
    RICCI_UNROLL_ONCE
    for (int k = n - 1; k >= 0; --k) {
        const element inverse = inverse_of(k);
        if (largest_part(inverse) == 0) info = k + 1;
        RICCI_UNROLL_ONCE
        for (int s = 0; s < sides; ++s) {
            element* const y = right + s * padded_rows;
            const element solution = divided(y[k], inverse, k);
            RICCI_UNROLL_ONCE
            for (int i = lane; i < k; i += lanes_at_work)
                if (exists) y[i] = y[i] - as_meant(r_factor[offset_in_shared(i, k)]) * solution;
        }
        meet();
    }
    const real zero = 0, nan = zero / zero;
    RICCI_UNROLL_ONCE
    for (int e = lane; e < n * sides; e += lanes_at_work) {
        const int k = e % n;
        element& y = right[e / n * padded_rows + k];
        if (exists) y = info != 0 ? from_real<element>(nan, is_complex ? nan : 0) : divided(y, inverse_of(k), k);
    }
    if constexpr (matrices_of_block > groups) meet(); // the next matrix's pivots go where the inverses are
    return info;
}
