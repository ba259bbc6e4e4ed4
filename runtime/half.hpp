// half and bfloat16: 2-byte element types. Arithmetic is float's; these only store.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace ricci {

namespace detail {

/// binary32 -> binary16, to nearest even; overflow gives infinity, NaN stays a (quiet) NaN.
constexpr std::uint16_t half_bits(float value) {
    const auto f = std::bit_cast<std::uint32_t>(value);
    const std::uint16_t sign = static_cast<std::uint16_t>((f >> 16) & 0x8000u);
    const std::uint32_t magnitude = f & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u;
    if (magnitude >= 0x477ff000u) return sign | 0x7c00u; // 65520 and above round to infinity
    if (magnitude < 0x38800000u) {                       // subnormal: add in units of 2^-24
        const float scaled = std::bit_cast<float>(magnitude) + std::bit_cast<float>(0x3f000000u);
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(scaled) - 0x3f000000u));
    }
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    return static_cast<std::uint16_t>(sign | ((magnitude + 0xc8000fffu + odd) >> 13));
}

constexpr float half_value(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
    if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
    const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
    return sign ? -subnormal : subnormal;
}

/// binary32 -> bfloat16, to nearest even.
constexpr std::uint16_t bfloat16_bits(float value) {
    const auto f = std::bit_cast<std::uint32_t>(value);
    if ((f & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((f >> 16) | 0x40u);
    return static_cast<std::uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
}

/// x += y and so on, in float, rounded once.
template <class Short>
struct compound_assignments {
    friend constexpr Short& operator+=(Short& x, float y) { return x = Short(static_cast<float>(x) + y); }
    friend constexpr Short& operator-=(Short& x, float y) { return x = Short(static_cast<float>(x) - y); }
    friend constexpr Short& operator*=(Short& x, float y) { return x = Short(static_cast<float>(x) * y); }
    friend constexpr Short& operator/=(Short& x, float y) { return x = Short(static_cast<float>(x) / y); }
};

} // namespace detail

/// IEEE binary16.
class half : detail::compound_assignments<half> {
  public:
    half() = default;
    constexpr half(float value) : bits_(detail::half_bits(value)) {}
    constexpr operator float() const { return detail::half_value(bits_); }
    static constexpr half from_bits(std::uint16_t bits) { half h{}; h.bits_ = bits; return h; }
    constexpr std::uint16_t bits() const { return bits_; }

  private:
    std::uint16_t bits_;
};

/// The upper half of a binary32.
class bfloat16 : detail::compound_assignments<bfloat16> {
  public:
    bfloat16() = default;
    constexpr bfloat16(float value) : bits_(detail::bfloat16_bits(value)) {}
    constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16); }
    static constexpr bfloat16 from_bits(std::uint16_t bits) { bfloat16 b{}; b.bits_ = bits; return b; }
    constexpr std::uint16_t bits() const { return bits_; }

  private:
    std::uint16_t bits_;
};

namespace detail {

/// What differs from float's: the digits, the first of which is not stored, and so the values. A type with other
/// exponents than float's says so itself.
template <class Short, int Digits>
class limits : public std::numeric_limits<float> {
    static constexpr std::uint16_t infinite = 0x7fff >> (Digits - 1) << (Digits - 1); ///< all ones in the exponent
    static constexpr Short of_bits(int bits) noexcept { return Short::from_bits(static_cast<std::uint16_t>(bits)); }

  public:
    static constexpr int digits = Digits;
    /// log10(2) = 0.301
    static constexpr int digits10 = (Digits - 1) * 301 / 1000, max_digits10 = Digits * 301 / 1000 + 2;
    static constexpr Short min() noexcept { return of_bits(1 << (Digits - 1)); }
    static constexpr Short lowest() noexcept { return of_bits(0x8000 | (infinite - 1)); }
    static constexpr Short max() noexcept { return of_bits(infinite - 1); }
    static constexpr Short epsilon() noexcept { return 1.0f / (1 << (Digits - 1)); }
    static constexpr Short round_error() noexcept { return 0.5f; }
    static constexpr Short infinity() noexcept { return of_bits(infinite); }
    static constexpr Short quiet_NaN() noexcept { return of_bits(infinite | 1 << (Digits - 2)); }
    static constexpr Short signaling_NaN() noexcept { return of_bits(infinite | 1 << (Digits - 3)); }
    static constexpr Short denorm_min() noexcept { return of_bits(1); }
};

} // namespace detail
} // namespace ricci

template <>
class std::numeric_limits<ricci::half> : public ricci::detail::limits<ricci::half, 11> {
  public:
    static constexpr int min_exponent = -13, min_exponent10 = -4, max_exponent = 16, max_exponent10 = 4;
};

template <>
class std::numeric_limits<ricci::bfloat16> : public ricci::detail::limits<ricci::bfloat16, 8> {};
