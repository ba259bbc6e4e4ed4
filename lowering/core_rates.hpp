// core_rates: what a core of a CPU does in a cycle, as the models of its kernels take it: one with two multipliers of
// whole vectors, as Intel's from Skylake-SP on and Zen 5 have them.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

namespace ricci::lowering {

inline constexpr double multiplies_a_cycle = 2, latency = 4;
inline constexpr double broadcasts_a_cycle = 3, loads_a_cycle = 2;
inline constexpr double not_overlapped = 0.12; ///< of loads, or multiplies

/// Cycles a second, of all cores together.
inline double core_clock(const step& st, const machine& chip) {
    const auto element = size_of(real_of(st.compute));
    const double peak = element == 8 ? chip.flops_f64 : chip.flops_f32;
    return peak / (2 * multiplies_a_cycle * chip.vector_bytes / static_cast<double>(element));
}

} // namespace ricci::lowering
