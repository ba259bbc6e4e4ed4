// cpu_features: what this CPU can do, as text for people and for the cache's key.
#pragma once

#include <string>

namespace ricci::runtime {

/// The architecture and its vector features: "x86-64 avx2 fma avx512f"; SVE with
/// its length, "aarch64 asimd sve256".
std::string cpu_vector_features();

/// As the system calls the processor; "CPU" where it does not say.
std::string cpu_model();

/// Differs between any two CPUs whose instruction sets differ, even beyond vectors; 64 hexadecimal digits.
std::string cpu_feature_digest();

} // namespace ricci::runtime
