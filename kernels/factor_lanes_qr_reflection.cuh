// factor_lanes_qr_reflection: Householder's reflection of one column, and what is safe for it.
//
// H is the same whether written with v = (1, x / d) or with u = (d, x), where d = alpha - beta and beta = -sign(re
// alpha) |(alpha, x)|: columns become c - g u with g = (conj(d) c_k + x^H c) / (d |beta|) for a positive alpha, so that
// x is not scaled on the way. v is made when all columns of a slot are done.
//
// Where a sum of squares leaves the range in which this is safe, the lane says so, and what it has is to be thrown
// away: factor_lanes_qr_scaled takes the matrix.
#pragma once

#include "factor_lanes_qr_registers.cuh"
#include "factor_reciprocal.cuh"
#include "factor_shuffles.cuh"

constexpr int per_power = sizeof(real) == 4 ? 1 << 23 : 1 << 20, ///< of upper_bits
    safe_powers = sizeof(real) == 4 ? 66 : 332;

/// Whether a number is between 2^-powers and 2^powers. NaN is not.
RICCI_FUNCTION bool is_within(real x, int powers) {
    constexpr unsigned bias = sizeof(real) == 4 ? 127 : 1023;
    return upper_bits(x) - (bias - powers) * per_power < 2u * powers * per_power;
}
/// Whether a sum of squares is between 2^-332 and 2^332 (f32: 2^-66 and 2^66): there it is right, and x^H c neither
/// overflows nor loses a column unless columns differ by more than 1e200 (f32: 1e28).
RICCI_FUNCTION bool is_safe(real square) { return is_within(square, safe_powers); }
/// 0, or in f64 below 2^-1041.
RICCI_FUNCTION bool is_nothing(real square) { return upper_bits(square) == 0; }

/// sum += conj(x) y
RICCI_FUNCTION void add_dot(element& sum, element x, element y) { add_product(sum, conjugate(x), y); }

template <class R>
RICCI_FUNCTION complex<R> selected(bool first, complex<R> yes, complex<R> no) {
    return {selected(first, yes.re, no.re), selected(first, yes.im, no.im)};
}

/// Over the row lanes, the same in each.
template <class T>
RICCI_FUNCTION void add_up(T& x) {
    RICCI_UNROLL
    for (int lanes = 1; lanes < row_lanes; lanes *= 2) x += shuffle_xor(x, lanes * row_lanes_apart);
}

/// H for a column's head and what is below it.
template <class T>
struct reflection {
    T d, e; ///< -g = e (conj(d) c_k + x^H c)
    T scale, tau;
    T beta;    ///< not of the identity
    real root; ///< tau = d root
    bool is_identity;
    RICCI_FUNCTION reflection(T alpha, real below, real square) {
        const real positive_root = near_reciprocal_root(square), norm = square * positive_root;
        const real signed_norm = with_sign_of(norm, real_of(alpha));
        root = with_sign_of(positive_root, real_of(alpha));
        is_identity = is_nothing(below);
        if constexpr (real_part<T>::is_complex) {
            d = {alpha.re + signed_norm, alpha.im};
            beta = {-signed_norm, 0};
            is_identity = is_identity && alpha.im == 0;
        } else {
            d = alpha + signed_norm;
            beta = -signed_norm;
        }
        scale = plain_reciprocal(d);
        tau = scaled(d, root);
        e = scaled(scale, -root);
        const T zero = from_real<T>(0, 0);
        if (is_identity) tau = zero, e = zero, scale = zero;
    }
};


/// What all lanes are told of H beside u: d, and d beta, of complex numbers |d|^2 beta.
template <class T>
struct alignas(2 * sizeof(T)) told_reflection {
    T d, product;
    told_reflection() = default;
    /// square: of alpha and of what is below it.
    RICCI_FUNCTION told_reflection(T alpha, real square, bool is_identity) {
        const real signed_norm = with_sign_of(near_root(square), real_of(alpha));
        if constexpr (real_part<T>::is_complex)
            d = {alpha.re + signed_norm, alpha.im}, product = {-(squared(d) * signed_norm), 0};
        else
            d = alpha + signed_norm, product = -(square + alpha * signed_norm);
        if (is_identity) d = from_real<T>(0, 0);
    }
    /// -g / (u^H c)
    RICCI_FUNCTION T factor() const {
        const real inverse = near_reciprocal(real_of(product));
        if constexpr (real_part<T>::is_complex)
            return scaled(conjugate(d), inverse);
        else
            return inverse;
    }
    RICCI_FUNCTION bool is_identity() const { return is_zero(d); }
    /// Whether the square was.
    RICCI_FUNCTION bool was_safe() const {
        return is_within(real_abs(real_of(product)), is_complex ? safe_powers * 3 / 2 + 2 : safe_powers + 1);
    }
    RICCI_FUNCTION T scale() const { return is_identity() ? from_real<T>(0, 0) : plain_reciprocal(d); }
    RICCI_FUNCTION T tau() const {
        const real of_square = -squared(d) * near_reciprocal(real_of(product));
        if constexpr (real_part<T>::is_complex)
            return scaled(d, of_square);
        else
            return of_square;
    }
    RICCI_FUNCTION T beta(T alpha) const {
        return is_identity() ? alpha : from_real<T>(real_of(alpha) - real_of(d), 0);
    }
};

/// Whether tau is wanted: in memory, or in shared memory by what finds the smallest solution.
constexpr bool has_taus = has_role[vector_role] || smallest_norm;
RICCI_FUNCTION void store_tau(element* taus, const arguments& a, int k, element tau) {
    if constexpr (smallest_norm)
        taus[k] = tau;
    else
        taus[offset_of<vector_role>(a, k, 0)] = as_meant(tau);
}
