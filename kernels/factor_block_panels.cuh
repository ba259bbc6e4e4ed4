// factor_block_panels: a panel of eight columns in shared memory, factored by one warp in its registers.
//
// Cholesky and LU: a lane has rows lane, lane + 32, ... of all columns. QR: four lanes share a column, lane q of them
// has two of every eight rows; one sum over all rows then gives the norm of the pivot's column and its products with
// all others, those on its left among them, which solving for the block reflector wants.
//
// This is what limits: one warp, whose instructions wait for one another. So what needs no floating point is left to
// the integer units, roots and reciprocals are near_..., and what others can write (pivots, tau) is left to them.
#pragma once

#include "factor_block_strips.cuh"

constexpr int padded_rows = rows > 0 ? round_up(static_cast<int>(rows), 8) : 8;
constexpr int lane_rows = (padded_rows + 31) / 32;     ///< of Cholesky and LU
constexpr int lane_lines = padded_rows / 4;            ///< of QR
constexpr bool keeps_pivot_column = lines_of_lane > 1; ///< QR: in registers, from the sum to the update

/// Of rows from the panel's first: `height`, of which there are at least `steps`; returns the first failing column
/// + 1.
RICCI_FUNCTION int factor_cholesky_panel(element* p, int ld, int height, int steps, panel_results<strip>& out) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    element x[lane_rows][strip];
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i)
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c) x[i][c] = lane + 32 * i < height ? p[lane + 32 * i + c * ld] : zero();
    int failed = 0;
    element diagonal = shuffle(x[0][0], 0);
    real own_inverse = 0;
    RICCI_UNROLL
    for (int c = 0; c < strip; ++c) {
        // Nothing waits for the root but what is multiplied by it: all lanes have what the next diagonal element is
        // made of.
        element factor[strip], next = zero();
        RICCI_UNROLL
        for (int k = c + 1; k < strip; ++k) factor[k] = shuffle(x[0][c], k);
        if (c + 1 < strip) next = shuffle(x[0][(c + 1) % strip], c + 1);
        const real d = real_of(diagonal);
        if (c < steps && failed == 0 && !(d > 0)) failed = c + 1;
        const real inverse = c < steps ? inverse_root(d) : real(0);
        if (lane == c) own_inverse = inverse, x[0][c] = of_parts<element>(d, real(0));
        RICCI_UNROLL
        for (int k = c + 1; k < strip; ++k) factor[k] = conjugate(scaled(factor[k], inverse));
        if (c + 1 < strip) {
            subtract_product(next, conjugate(factor[(c + 1) % strip]), factor[(c + 1) % strip]);
            diagonal = next;
        }
        RICCI_UNROLL
        for (int i = 0; i < lane_rows; ++i) {
            x[i][c] = scaled(x[i][c], inverse);
            RICCI_UNROLL
            for (int k = c + 1; k < strip; ++k) subtract_product(x[i][k], x[i][c], factor[k]);
        }
    }
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i)
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c)
            if (lane + 32 * i < height) p[lane + 32 * i + c * ld] = x[i][c];
    if (lane < strip) out.g[lane + lane * strip] = of_parts<element>(own_inverse, real(0));
    return failed;
}

/// The largest of the warp's 32-bit numbers.
RICCI_FUNCTION unsigned largest_of_warp(unsigned x) {
#if RICCI_ON_GPU && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, x);
#else
    RICCI_UNROLL
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const unsigned other = __shfl_xor_sync(0xffffffffu, x, lanes);
        x = other > x ? other : x;
    }
    return x;
#endif
}

/// How many bits are set.
RICCI_FUNCTION int count_of(unsigned lanes) {
#if RICCI_ON_GPU
    return __popc(lanes);
#else
    return __builtin_popcount(lanes);
#endif
}

/// Lanes that hold the pivot, by which of their rows it is: one bit is set.
struct pivot_holders {
    unsigned lanes[lane_rows];
};

/// Of rows whose sizes' upper bits are the largest the first of the largest. place: where rows stand, < 0: nowhere.
RICCI_FUNCTION void settle_tie(const element (&x)[lane_rows][strip], int c, const int (&place)[lane_rows],
                               pivot_holders& at) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    unsigned low[lane_rows], most = 0, first = 0;
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i) {
        low[i] = (at.lanes[i] >> lane & 1) != 0 ? low_size_bits(x[i][c]) : 0;
        most = low[i] > most ? low[i] : most;
    }
    most = largest_of_warp(most);
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i) {
        const unsigned before = ~static_cast<unsigned>(place[i]);
        if ((at.lanes[i] >> lane & 1) != 0 && low[i] == most && before > first) first = before;
    }
    first = ~largest_of_warp(first);
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i)
        at.lanes[i] = __ballot_sync(0xffffffffu, place[i] == static_cast<int>(first));
}

/// tail: a row of p behind the matrix's, for use; is_odd changes with each exchange.
///
/// Rows stay where they are until the end; a pivot's row goes at once to its place in shared memory, from where all
/// lanes read it, and what its lane then makes of it is not used.
RICCI_FUNCTION int factor_lu_panel(element* p, int ld, int height, int tail, int steps, panel_results<strip>& out,
                                   bool& is_odd) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    constexpr int outside = -64;
    element x[lane_rows][strip];
    int place[lane_rows]; // of a pivot's row, which is c: -1 - c
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i) {
        const bool is_inside = lane + 32 * i < height;
        place[i] = is_inside ? lane + 32 * i : outside;
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c) x[i][c] = is_inside ? p[lane + 32 * i + c * ld] : zero();
    }
    if (lane < strip) out.rows_moved.to[lane] = lane < steps ? lane : -1;
    __syncwarp();
    int failed = 0;
    RICCI_UNROLL
    for (int c = 0; c < strip; ++c) {
        if (c >= steps) break;
        pivot_holders holders;
        if constexpr (method == lu_method) {
            unsigned high[lane_rows], most = 0;
            element best = zero();
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i) {
                // one more than the zero of those that have no row
                high[i] = place[i] < 0 ? 0 : size_bits(x[i][c]) + 1;
                if (i == 0 || high[i] > most) most = high[i], best = x[i][c];
            }
            most = largest_of_warp(most);
            element inverse = plain_reciprocal(best); // of the right one in the lane that has the largest
            unsigned all = 0, again = 0;
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i) {
                holders.lanes[i] = __ballot_sync(0xffffffffu, high[i] == most);
                again |= all & holders.lanes[i];
                all |= holders.lanes[i];
            }
            if (again != 0 || (all & (all - 1)) != 0) {
                settle_tie(x, c, place, holders);
                RICCI_UNROLL
                for (int i = 0; i < lane_rows; ++i)
                    if ((holders.lanes[i] >> lane & 1) != 0) best = x[i][c];
                inverse = plain_reciprocal(best);
            }
            bool is_mine = false;
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i) is_mine = is_mine || (holders.lanes[i] >> lane & 1) != 0;
            if (is_mine) {
                RICCI_UNROLL
                for (int i = 0; i < lane_rows; ++i)
                    if (holders.lanes[i] != 0) {
                        RICCI_UNROLL
                        for (int k = 0; k < strip; ++k) p[c + k * ld] = x[i][k];
                        out.pivots[c] = place[i];
                        out.rows_moved.from[c] = lane + 32 * i;
                        place[i] = -1 - c;
                    }
                p[tail + c * ld] = inverse;
            }
        } else if (lane == c) {
            RICCI_UNROLL
            for (int k = 0; k < strip; ++k) p[c + k * ld] = x[0][k];
            p[tail + c * ld] = plain_reciprocal(x[0][c]);
            place[0] = -1 - c;
        }
        __syncwarp();
        element top[strip];
        RICCI_UNROLL
        for (int k = c; k < strip; ++k) top[k] = p[c + k * ld];
        element inverse = p[tail + c * ld];
        if constexpr (method == lu_method) {
            const int row = out.pivots[c];
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i)
                if (place[i] == c) place[i] = row;
        }
        if (!has_plain_reciprocal(top[c])) {
            const bool is_singular = size_of_pivot(top[c]) == 0;
            if (is_singular && failed == 0) failed = c + 1;
            if (is_singular) {
                inverse = one();
            } else {
                real grown = has_reciprocal(top[c]) ? real(1) : reciprocal_growth;
                if constexpr (is_complex) {
                    inverse = one() / scaled(top[c], grown);
                } else {
                    if (grown == 1) grown = 1 / reciprocal_growth;
                    inverse = plain_reciprocal(scaled(top[c], grown));
                }
                RICCI_UNROLL
                for (int i = 0; i < lane_rows; ++i) x[i][c] = scaled(x[i][c], grown);
            }
        }
        RICCI_UNROLL
        for (int i = 0; i < lane_rows; ++i) x[i][c] = x[i][c] * inverse;
        RICCI_UNROLL
        for (int k = c + 1; k < strip; ++k)
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i) subtract_product(x[i][k], x[i][c], top[k]);
    }
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i)
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c)
            if (place[i] >= 0) p[place[i] + c * ld] = x[i][c];
    if constexpr (method == lu_method) {
        // beside pivots only rows move in whose places they come
        if (lane < strip) {
            out.rows_moved.to[strip + lane] = place[0] >= 0 && place[0] != lane ? place[0] : -1;
            out.rows_moved.from[strip + lane] = lane;
        }
        if constexpr (has_role[log_abs_role] || has_role[sign_role]) {
            const bool is_exchanged = lane < steps && out.pivots[lane % strip] != lane;
            if (count_of(__ballot_sync(0xffffffffu, is_exchanged)) % 2 != 0) is_odd = !is_odd;
        }
    }
    return failed;
}

/// The sum over the four lanes of a column.
RICCI_FUNCTION element sum_of_four(element x) {
    x = x + shuffle_xor(x, 1);
    return x + shuffle_xor(x, 2);
}

/// Finite and far from overflow, by the integer units.
RICCI_FUNCTION bool is_small(element x) {
    constexpr unsigned most = doubles ? (1023u + 1000) << 20 : (127u + 120) << 23;
    return size_bits(real_of(x)) < most && size_bits(imaginary_of(x)) < most;
}

/// Two numbers that one access reads.
struct alignas(sizeof(element) < 16 ? 2 * sizeof(element) : 16) element_pair {
    element of[2];
};

/// f(i) of even i: of two of a lane's lines, of which there are `lines`.
template <class F>
RICCI_FUNCTION void each_pair(int lines, const F& f) {
    constexpr int chunk = 16; // lines between which there are no branches
    RICCI_UNROLL
    for (int i0 = 0; i0 < lane_lines; i0 += chunk)
        if (i0 < lines) {
            RICCI_UNROLL
            for (int i = i0; i < smaller_of(i0 + chunk, lane_lines); i += 2) f(i);
        }
}

/// lines: height/4, of rows padded with zeros to a multiple of 8. Lane q of a column has rows 8i + 2q and one more.
///
/// A step is a chain: what differs between columns is selected, since each branch takes as long as one or two of its
/// links (H100: 1100 cycles a step with a dozen branches, a third of them those).
RICCI_FUNCTION void factor_qr_panel(element* p, int ld, int lines, int steps, panel_results<strip>& out) {
    const int lane = static_cast<int>(threadIdx.x % 32), column = lane / 4, q = lane % 4;
    element own[lane_lines], own_scale = one();            // what is below the diagonal lacks it
    element* const mine = p + 2 * q + column * ld;
    element* const products = out.g + column * strip;
    const auto pair_at = [](element* at, int i) -> element_pair& {
        return *reinterpret_cast<element_pair*>(at + i / 2 * 8);
    };
    RICCI_UNROLL
    for (int i = 0; i < lane_lines; i += 2) {
        element_pair x{{zero(), zero()}};
        if (i < lines) x = pair_at(mine, i);
        own[i] = x.of[0], own[i + 1] = x.of[1];
    }
    for (int e = lane; e < 64; e += 32) out.g[e] = zero();
    RICCI_UNROLL_2
    for (int c = 0; c < steps; ++c) {
        const bool is_pivot = column == c, is_behind = column > c;
        each_pair(lines, [&](int i) {
            if (is_pivot && i < lines) pair_at(mine, i) = {{own[i], own[i + 1]}};
        });
        __syncwarp();
        element* const pivot = p + 2 * q + c * ld;
        real shrink = 1, growth = 1;
        element kept[keeps_pivot_column ? lane_lines : 1] = {};
        // rows below the diagonal, and zero
        const auto read = [&](int i) {
            element_pair x{{zero(), zero()}};
            if (i < lines) x = pair_at(pivot, i);
            if (i == 0 && 2 * q <= c) x.of[0] = zero();
            if (i == 0 && 2 * q + 1 <= c) x.of[1] = zero();
            return x;
        };
        const auto pivot_lines = [&](int i) -> element_pair {
            if constexpr (keeps_pivot_column) return {{kept[i], kept[i + 1]}};
            const element_pair x = read(i);
            return {{scaled(x.of[0], shrink), scaled(x.of[1], shrink)}};
        };
        if constexpr (keeps_pivot_column)
            each_pair(lines, [&](int i) {
                const element_pair x = read(i);
                kept[i] = x.of[0], kept[i + 1] = x.of[1];
            });
        // `once_more`: not of own[], as it was, but of the pivot's column as it was read
        const auto product = [&](bool once_more) {
            element sum[4] = {zero(), zero(), zero(), zero()};
            each_pair(lines, [&](int i) {
                const element_pair x = pivot_lines(i);
                add_product(sum[i % 4], conjugate(x.of[0]), once_more && is_pivot ? x.of[0] : own[i]);
                add_product(sum[i % 4 + 1], conjugate(x.of[1]), once_more && is_pivot ? x.of[1] : own[i + 1]);
            });
            return sum_of_four((sum[0] + sum[1]) + (sum[2] + sum[3]));
        };
        const element head = c % 2 == 0 ? own[0] : own[1], top = shuffle(head, column * 4 + c / 2);
        element alpha = shuffle(head, 4 * c + c / 2), sum = product(false);
        real squares = __shfl_sync(0xffffffffu, real_of(sum), 4 * c);
        constexpr int safe_exponent = doubles ? 660 : 66;
        const bool is_safe = is_within<safe_exponent>(upper_bits(squares)) &
                             is_within<safe_exponent>(upper_bits(squares + squared(alpha))) & is_small(sum);
        bool is_identity = false;
        if (__any_sync(0xffffffffu, !is_safe)) {
            real largest = size_of_pivot(alpha);
            bool is_nothing = true;
            RICCI_UNROLL_ONCE
            for (int i = 0; i < lines; i += 2) {
                const element_pair x = read(i);
                RICCI_UNROLL
                for (int e = 0; e < 2; ++e) {
                    const real size = size_of_pivot(x.of[e]);
                    if (!(size <= largest)) largest = size;
                    is_nothing = is_nothing && size == 0;
                }
            }
            RICCI_UNROLL
            for (int lanes = 1; lanes < 4; lanes *= 2) {
                const real other = __shfl_xor_sync(0xffffffffu, largest, lanes);
                if (!(other <= largest)) largest = other;
            }
            shrink = shrinking(largest), growth = 1 / shrink;
            if constexpr (keeps_pivot_column) {
                RICCI_UNROLL
                for (int i = 0; i < lane_lines; ++i) kept[i] = scaled(kept[i], shrink);
            }
            alpha = scaled(alpha, shrink);
            sum = product(true);
            squares = __shfl_sync(0xffffffffu, real_of(sum), 4 * c);
            if (__any_sync(0xffffffffu, !is_nothing) && squares == 0) // by underflow
                squares = squared(alpha) * static_cast<real>(0x1p-120);
            is_identity = squares == 0 && imaginary_of(alpha) == 0;
            if constexpr (keeps_pivot_column) { // 0 times what is no number would be none
                RICCI_UNROLL
                for (int i = 0; i < lane_lines; ++i) kept[i] = is_behind ? kept[i] : zero();
            }
        }
        reflector h = reflector_of(alpha, squares);
        if (is_identity) h = {zero(), zero(), real_of(alpha)};
        const element w = top + conjugate(h.inverse) * sum, f = conjugate(h.tau) * w;
        if constexpr (keeps_pivot_column) {
            const element g = is_behind ? h.inverse * f : zero();
            each_pair(lines, [&](int i) {
                subtract_product(own[i], kept[i], g);
                subtract_product(own[i + 1], kept[i + 1], g);
            });
        } else if (is_behind) {
            const element g = h.inverse * f;
            each_pair(lines, [&](int i) {
                const element_pair x = pivot_lines(i);
                subtract_product(own[i], x.of[0], g);
                subtract_product(own[i + 1], x.of[1], g);
            });
        }
        const element left = is_pivot ? conjugate(h.tau) : w * own_scale,
                      diagonal = is_pivot ? from_real<element>(static_cast<double>(h.beta * growth), 0) : top - f;
        own_scale = is_pivot ? scaled(h.inverse, shrink) : own_scale;
        const bool has_diagonal = q == c / 2 && column >= c;
        own[0] = has_diagonal && c % 2 == 0 ? diagonal : own[0];
        own[1] = has_diagonal && c % 2 != 0 ? diagonal : own[1];
        if (q == 0 && column <= c) products[c] = left;
    }
    __syncwarp();
    const bool is_reflector = column < steps;
    RICCI_UNROLL
    for (int i = 0; i < lane_lines; i += 2)
        if (i < lines) {
            element_pair x{{own[i], own[i + 1]}};
            RICCI_UNROLL
            for (int e = 0; e < 2; ++e)
                if (is_reflector && (i > 0 || 2 * q + e > column)) x.of[e] = x.of[e] * own_scale;
            pair_at(mine, i) = x;
        }
}
