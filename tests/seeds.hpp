// seeds: which of a test's random cases are run, as the environment says.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace ricci::tests {

/// RICCI_TEST_SEED, the first seed, or RICCI_TEST_N, how many.
inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

} // namespace ricci::tests
