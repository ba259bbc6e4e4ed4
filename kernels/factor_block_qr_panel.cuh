// factor_block_qr_panel: a panel of eight columns of QR in shared memory, factored by one warp in its registers.
//
// Four lanes share a column, lane q of them has two of every eight rows; one sum over all rows gives the norm of the
// pivot's column and its products with all others, those on its left among them, which solving for the block reflector
// wants.
#pragma once

#include "factor_block_panels.cuh"

constexpr int lane_lines = padded_rows / 4;
constexpr bool keeps_pivot_column = lines_of_lane > 1; ///< in registers, from the sum to the update

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
    element own[lane_lines], own_scale = one(); // what is below the diagonal lacks it
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
