// factor_determinant_cpu: log |det| and det/|det| of a product of diagonal elements: a power of 2 apart, of which
// the rest has one logarithm and no overflow.
#pragma once

#include "factor_elements.hpp"

struct scaled_product {
    double re = 1, im = 0;
    long long exponent = 0;
    bool is_zero = false;

    /// (re, im) of any size times another whose parts are below 2^1000.
    RICCI_FUNCTION void normalize() {
        const double size = real_abs(re) > real_abs(im) ? real_abs(re) : real_abs(im);
        if (size == 0 || size - size != 0) return;
        long long bits;
        __builtin_memcpy(&bits, &size, 8);
        const long long power = (bits >> 52) - 1023;
        // subnormal numbers by steps: 2^-power has to be a number
        const long long step = power < -1000 ? -1000 : power > 1000 ? 1000 : power;
        const long long factor_bits = (1023 - step) << 52;
        double factor;
        __builtin_memcpy(&factor, &factor_bits, 8);
        re *= factor, im *= factor, exponent += step;
    }
    template <class T>
    RICCI_FUNCTION void multiply(T x) {
        scaled_product other;
        if constexpr (real_part<T>::is_complex)
            other.re = x.re, other.im = x.im;
        else
            other.re = x;
        if (other.re == 0 && other.im == 0) is_zero = true;
        other.normalize(), other.normalize();
        const double old = re;
        re = old * other.re - im * other.im, im = old * other.im + im * other.re;
        exponent += other.exponent;
        normalize();
    }
    /// To where an operand wants them; `times`: of |det| (Cholesky: 2, of the factor's).
    RICCI_FUNCTION void store(const arguments& a, long long matrix, long long info, int times, bool negative) const {
        if (info != 0) return put(a, matrix, log_of_failed(), sign_of_failed());
        double size = real_abs(re), log_abs = -__builtin_inf(), sign_re = 0, sign_im = 0;
        if (!is_zero) {
            if (im != 0) size = real_hypot(re, im);
            log_abs = times * (real_log(size) + static_cast<double>(exponent) * 0.693147180559945309417232121458);
            sign_re = times == 2 ? 1 : (negative ? -re : re) / size,
            sign_im = times == 2 ? 0 : (negative ? -im : im) / size;
        }
        put(a, matrix, log_abs, from_real<element>(sign_re, sign_im));
    }

  private:
    static RICCI_FUNCTION void put(const arguments& a, long long matrix, double log_abs, element sign) {
        if constexpr (has_role[log_abs_role]) *operand_of<log_abs_role>(a, matrix) = static_cast<real>(log_abs);
        if constexpr (has_role[sign_role]) *operand_of<sign_role>(a, matrix) = sign;
    }
};
constexpr bool has_determinant = has_role[log_abs_role] || has_role[sign_role];
