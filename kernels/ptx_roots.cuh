// ptx_roots: reciprocals and reciprocal square roots without the branches that CUDA's own have for numbers near the
// ends of the range: of normal numbers whose result is normal, to one or two units in the last place. And what else
// spares the f64 units work: signs and magnitudes by the integer units.
#pragma once

#include "ptx.cuh"

#if RICCI_ON_GPU

// The instructions give about 20 bits. With x y = 1 - h, 1/x = y (1 + h + h² + ...); and with x y² = 1 - h, 1/√x =
// y (1 + h/2 + 3h²/8 + ...): one step each.
RICCI_FUNCTION double near_reciprocal(double x) {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double h = 1.0 - x * y;
    return y + y * (h + h * h);
}
/// To about 20 bits, all of them in the upper half; of normal numbers whose reciprocal is normal.
RICCI_FUNCTION double rough_reciprocal(double x) {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
RICCI_FUNCTION double near_reciprocal_root(double x) {
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double h = 1.0 - (x * y) * y;
    return y + y * h * (0.5 + 0.375 * h);
}
RICCI_FUNCTION double near_root(double x) {
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double root = x * y, h = 1.0 - root * y;
    return root + root * h * (0.5 + 0.375 * h);
}
RICCI_FUNCTION float near_reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
RICCI_FUNCTION float near_reciprocal_root(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

RICCI_FUNCTION float near_root(float x) { return x * near_reciprocal_root(x); }

#else

RICCI_FUNCTION double near_reciprocal(double x) { return 1 / x; }
RICCI_FUNCTION double near_reciprocal_root(double x) { return 1 / __builtin_sqrt(x); }
RICCI_FUNCTION float near_reciprocal(float x) { return 1 / x; }
RICCI_FUNCTION float near_reciprocal_root(float x) { return 1 / __builtin_sqrtf(x); }
RICCI_FUNCTION double near_root(double x) { return __builtin_sqrt(x); }
RICCI_FUNCTION float near_root(float x) { return __builtin_sqrtf(x); }

#endif

#if RICCI_ON_GPU
RICCI_FUNCTION float with_sign_of(float size, float sign) { return ::copysignf(size, sign); }
RICCI_FUNCTION double with_sign_of(double size, double sign) { return ::copysign(size, sign); }
RICCI_FUNCTION float negative(float x) { return -x; }
RICCI_FUNCTION double negative(double x) {
    return ::__hiloint2double(::__double2hiint(x) ^ static_cast<int>(0x80000000u), ::__double2loint(x));
}
/// Sign, exponent and the first bits behind.
RICCI_FUNCTION unsigned upper_bits(double x) { return static_cast<unsigned>(::__double2hiint(x)); }
RICCI_FUNCTION double of_upper_bits(unsigned bits) { return ::__hiloint2double(static_cast<int>(bits), 0); }
#else
RICCI_FUNCTION float with_sign_of(float size, float sign) { return __builtin_copysignf(size, sign); }
RICCI_FUNCTION double with_sign_of(double size, double sign) { return __builtin_copysign(size, sign); }
RICCI_FUNCTION float negative(float x) { return -x; }
RICCI_FUNCTION double negative(double x) { return -x; }
RICCI_FUNCTION unsigned upper_bits(double x) {
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, 8);
    return static_cast<unsigned>(bits >> 32);
}
RICCI_FUNCTION double of_upper_bits(unsigned upper) {
    const unsigned long long bits = static_cast<unsigned long long>(upper) << 32;
    double x;
    __builtin_memcpy(&x, &bits, 8);
    return x;
}
RICCI_FUNCTION double rough_reciprocal(double x) { return of_upper_bits(upper_bits(1 / x)); }
#endif
RICCI_FUNCTION unsigned upper_bits(float x) { return bits_of(x); }
