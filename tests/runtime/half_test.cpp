// half_test: half and bfloat16 convert as IEEE 754 says, against an oracle in double precision.
#include "runtime/half.hpp"
#include "tests/catch.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <random>

using namespace ricci;

namespace {

/// A 2-byte format by its numbers.
struct format {
    int fraction_bits, bias;
};
constexpr format binary16{10, 15}, brain{7, 127};

/// The value of `bits`, by the definition.
double value_of(format f, unsigned bits) {
    const int exponent_bits = 15 - f.fraction_bits;
    const unsigned fraction = bits & ((1u << f.fraction_bits) - 1);
    const int exponent = static_cast<int>(bits >> f.fraction_bits & ((1u << exponent_bits) - 1));
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
    const double significand = fraction + (exponent ? std::ldexp(1.0, f.fraction_bits) : 0.0);
    return sign * std::ldexp(significand, std::max(exponent, 1) - f.bias - f.fraction_bits);
}

/// `value` rounded to nearest even in the format: a multiple of its unit in the last place, by a double's own
/// rounding.
double rounded(format f, double value) {
    if (!std::isfinite(value) || value == 0) return value;
    const int exponent = std::max(std::ilogb(value), 1 - f.bias);
    const double unit = std::ldexp(1.0, exponent - f.fraction_bits);
    const double nearest = std::nearbyint(value / unit) * unit; // exact but for nearbyint, to even
    const double limit = std::ldexp(1.0, f.bias + 1);
    return std::abs(nearest) >= limit ? std::copysign(std::numeric_limits<double>::infinity(), value) : nearest;
}

bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }

template <class T>
bool right(format f, float value) {
    const T converted(value);
    const bool quiet = !std::isnan(value) || (converted.bits() >> (f.fraction_bits - 1) & 1);
    return same(static_cast<float>(converted), rounded(f, value)) && quiet;
}

template <class T>
void check_all(format f) {
    int wrong_values = 0, wrong_trips = 0, wrong_midpoints = 0;
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const auto element = T::from_bits(static_cast<std::uint16_t>(bits));
        const float value = element;
        wrong_values += !same(value, value_of(f, bits));
        const unsigned trip = T(value).bits();
        wrong_trips += std::isnan(value) ? !std::isnan(static_cast<float>(T(value))) : trip != bits;
        // The midpoint to the next element, and the floats beside it, decide every rounding.
        const float next = T::from_bits(static_cast<std::uint16_t>(bits + 1));
        if (!std::isfinite(value) || !std::isfinite(next)) continue;
        const auto middle = static_cast<float>((static_cast<double>(value) + next) / 2);
        for (const float x : {middle, std::nextafter(middle, value), std::nextafter(middle, next)})
            wrong_midpoints += !right<T>(f, x);
    }
    CHECK(wrong_values == 0);
    CHECK(wrong_trips == 0);
    CHECK(wrong_midpoints == 0);

    std::mt19937 random(7);
    int wrong = 0;
    for (int i = 0; i < 2'000'000; ++i)
        wrong += !right<T>(f, std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    CHECK(wrong == 0);
    for (const std::uint32_t bits : {0u, 0x80000000u, 1u, 0x007fffffu, 0x00800000u, 0x7f7fffffu, 0x7f800000u,
                                     0xff800000u, 0x7f800001u, 0x7fc00000u, 0xffffffffu, 0x477fefffu, 0x477ff000u,
                                     0x33000000u, 0x33000001u, 0x387fffffu, 0x38800000u, 0x7f7f7fffu, 0x7f7f8000u}) {
        CAPTURE(bits);
        CHECK(right<T>(f, std::bit_cast<float>(bits)));
    }
}

} // namespace

TEST_CASE("the oracle rounds as it should") {
    CHECK(rounded(binary16, 65519.99) == 65504);
    CHECK(std::isinf(rounded(binary16, 65520)));
    CHECK(rounded(binary16, 0x1p-25) == 0);
    CHECK(rounded(binary16, 0x1.8p-25) == 0x1p-24);
    CHECK(rounded(brain, 1.00390625) == 1); // 1 + 2^-8, a tie
}

TEST_CASE("half") { check_all<half>(binary16); }
TEST_CASE("bfloat16") { check_all<bfloat16>(brain); }

TEST_CASE("compound assignment rounds once") {
    half h = 1;
    h += 2;
    h -= 0.5f;
    h *= half(4);
    h /= 3;
    CHECK(h.bits() == half(10.0f / 3).bits());
    bfloat16 b = 256;
    (b += 1) += 3; // 257 is a tie, to even
    CHECK(b == 260);
    half largest = 65504;
    CHECK(std::isinf(largest *= 2));
}

namespace {

/// Every number of numeric_limits, from what it means.
template <class T>
void check_limits(format f) {
    using limits = std::numeric_limits<T>;
    static_assert(limits::is_specialized && limits::has_infinity && !limits::is_integer && limits::radix == 2);
    CHECK(limits::digits == f.fraction_bits + 1);
    CHECK(limits::digits10 == static_cast<int>(std::floor(f.fraction_bits * std::log10(2.0))));
    CHECK(limits::max_digits10 == static_cast<int>(std::ceil(limits::digits * std::log10(2.0) + 1)));
    CHECK(limits::max_exponent == f.bias + 1);
    CHECK(limits::min_exponent == 2 - f.bias);
    const double max = std::ldexp(2 - std::ldexp(1.0, -f.fraction_bits), f.bias), min = std::ldexp(1.0, 1 - f.bias);
    CHECK(limits::max() == max);
    CHECK(limits::lowest() == -max);
    CHECK(limits::min() == min);
    CHECK(limits::max_exponent10 == static_cast<int>(std::floor(std::log10(max))));
    CHECK(limits::min_exponent10 == static_cast<int>(std::ceil(std::log10(min))));
    CHECK(limits::denorm_min() == std::ldexp(min, -f.fraction_bits));
    CHECK(limits::epsilon() == std::ldexp(1.0, -f.fraction_bits));
    CHECK(limits::round_error() == 0.5);
    CHECK(std::isinf(limits::infinity()));
    CHECK((std::isnan(limits::quiet_NaN()) && limits::quiet_NaN().bits() >> (f.fraction_bits - 1) & 1));
    CHECK((std::isnan(limits::signaling_NaN()) && !(limits::signaling_NaN().bits() >> (f.fraction_bits - 1) & 1)));
    static_assert(std::is_same_v<decltype(limits::max()), T>);
}

} // namespace

TEST_CASE("numeric_limits") {
    check_limits<half>(binary16);
    check_limits<bfloat16>(brain);
}

TEST_CASE("2-byte elements are what kernels and files take them for") {
    static_assert(sizeof(half) == 2 && alignof(half) == 2 && std::is_trivially_copyable_v<half>);
    static_assert(sizeof(bfloat16) == 2 && alignof(bfloat16) == 2 && std::is_trivially_copyable_v<bfloat16>);
    static_assert(half(1.0f).bits() == 0x3c00 && bfloat16(1.0f).bits() == 0x3f80);
    CHECK(half(0.1f) + half(0.2f) == static_cast<float>(half(0.1f)) + static_cast<float>(half(0.2f)));
}
