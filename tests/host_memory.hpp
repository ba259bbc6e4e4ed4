// host_memory: buffers between guard zones, random data, and the comparison of memory with what the oracle expects.
#pragma once

#include "tests/oracle.hpp"

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace ricci::tests {

/// Memory whose start is aligned to 256 bytes and then shifted; 256 guard bytes lie before and at least that after
/// it.
class host_buffer {
  public:
    explicit host_buffer(std::size_t bytes, std::size_t shift = 0);
    std::byte* data() { return whole().data() + guard + shift_; }
    std::size_t size() const { return bytes_; }
    /// The memory with its guards.
    std::span<std::byte> whole();

    static constexpr std::size_t guard = 256;

  private:
    std::size_t bytes_, shift_;
    std::vector<std::byte> storage_;
};

/// Writes one element, rounded to its type; the imaginary part is dropped for a real type.
void write_element(void* address, lowering::scalar_type type, double re, double im = 0);
/// Reads one element.
std::pair<long double, long double> read_element(const void* address, lowering::scalar_type type);

enum class fill { unit, integers }; ///< in [-1, 1]; integers in [-4, 4], whose sums are exact

/// Fills memory with elements of `type`; each is NaN, infinite or a signed zero with probability `special`.
void fill_random(std::span<std::byte> memory, lowering::scalar_type type, std::mt19937_64& random,
                 fill kind = fill::unit, double special = 0);

/// The bytes of all memory that a statement can reach, before it runs.
class snapshot {
  public:
    explicit snapshot(std::vector<std::span<std::byte>> memory);
    struct part {
        std::span<std::byte> now;
        std::vector<std::byte> before;
    };
    const std::vector<part>& parts() const { return parts_; }

  private:
    std::vector<part> parts_;
};

/// Compares memory as it now is with what was expected: every written element within its bound, and every other byte
/// as in `before`. Empty if all is right, else the first mistakes, their indices and values.
std::string compare(const oracle_result& expected, const snapshot& before);

} // namespace ricci::tests
