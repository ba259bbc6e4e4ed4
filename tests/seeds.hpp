// seeds: which of a test's cases are run, as the environment says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace ricci::tests {

/// RICCI_TEST_SEED, the first seed, or RICCI_TEST_N, how many.
inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Counts a test's cases and takes every RICCI_TEST_N-th, from number RICCI_TEST_FIRST on; all where neither is set.
class part_of_run {
  public:
    bool takes_next() { return counted_++ % every_ == first_; }

  private:
    std::size_t every_ = number_from_environment("RICCI_TEST_N", 1);
    std::size_t first_ = number_from_environment("RICCI_TEST_FIRST", 0), counted_ = 0;
};

} // namespace ricci::tests
