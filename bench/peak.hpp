// peak: how many multiply-adds this CPU does in a second; the yardstick of what stays in its caches.
#pragma once

#include <ricci/lowering/scalar_type.hpp>

#include <string>

namespace ricci::bench {

/// Flops a second, of all threads together. Zero where nothing was measured.
struct peak {
    double f64 = 0, f32 = 0;

    /// Of what computes in `type`; 2-byte types compute in f32.
    double of(lowering::scalar_type type) const {
        return lowering::real_of(type) == lowering::scalar_type::f64 ? f64 : f32;
    }
};

/// Of the CPU. Throws ricci::error (environment) where there is no compiler.
peak measure_peak();

} // namespace ricci::bench
