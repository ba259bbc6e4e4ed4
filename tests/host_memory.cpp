// host_memory: see the header.
#include "tests/host_memory.hpp"

#include "runtime/half.hpp"
#include "tests/number_format.hpp"

#include <fmt/format.h>

#include <complex>
#include <cstring>
#include <limits>

namespace ricci::tests {
namespace {

using lowering::scalar_type;

constexpr int reported = 5;
constexpr auto guard_byte = std::byte{0xff}; // a NaN in every type, so that a read outside shows

bool matches(long double re, long double im, const expected_element& e, const number_format& f) {
    const auto within = [&](long double actual, long double value) {
        if (std::isinf(actual)) // 2^-24: f64 may be rounded to f32 on the way to 2 bytes
            return std::signbit(actual) == std::signbit(value) &&
                   std::fabs(value) + e.error >= f.overflow * (f.digits < 24 ? 1 - 0x1p-24L : 1);
        return std::fabs(actual - value) <= e.bound; // false for NaN
    };
    switch (e.kind) {
    case verdict::unknown:
        return true;
    case verdict::nan:
        return std::isnan(re);
    case verdict::infinite:
        return std::isinf(re) && std::signbit(re) == std::signbit(e.re);
    case verdict::non_finite:
        return !std::isfinite(re) || !std::isfinite(im);
    case verdict::within:
        return within(re, e.re) && within(im, e.im);
    }
    return false;
}

std::string described(const expected_element& e) {
    switch (e.kind) {
    case verdict::nan:
        return "NaN";
    case verdict::infinite:
        return e.re < 0 ? "-inf" : "inf";
    case verdict::non_finite:
        return "NaN or infinity";
    default:
        return fmt::format("({:.17g}, {:.17g}) within {:.3g}", e.re, e.im, e.bound);
    }
}

std::string indices(const oracle_result& r, std::int64_t ordinal) {
    std::string text;
    for (std::size_t l = 0; l < r.labels.size(); ++l) {
        text += fmt::format("{}{}={}", l ? ", " : "", r.labels[l], r.begin[l] + ordinal % r.extent[l]);
        ordinal /= r.extent[l];
    }
    return text;
}

} // namespace

host_buffer::host_buffer(std::size_t bytes, std::size_t shift)
    : bytes_(bytes), shift_(shift), storage_(bytes + shift + 3 * guard, guard_byte) {}

std::span<std::byte> host_buffer::whole() {
    const auto start = reinterpret_cast<std::uintptr_t>(storage_.data());
    const std::size_t aligned = (start + guard - 1) / guard * guard - start;
    return {storage_.data() + aligned, bytes_ + shift_ + 2 * guard};
}

void write_element(void* address, scalar_type type, double re, double im) {
    const auto put = [address]<class T>(T x) { std::memcpy(address, &x, sizeof x); };
    const auto a = static_cast<float>(re), b = static_cast<float>(im);
    switch (type) {
    case scalar_type::f16:
        return put(half(a));
    case scalar_type::bf16:
        return put(bfloat16(a));
    case scalar_type::f32:
        return put(a);
    case scalar_type::f64:
        return put(re);
    case scalar_type::c64:
        return put(std::complex(a, b));
    default:
        return put(std::complex(re, im));
    }
}

std::pair<long double, long double> read_element(const void* address, scalar_type type) {
    const auto get = [address]<class T>(T x) { return std::memcpy(&x, address, sizeof x), x; };
    const auto both = [](auto z) { return std::pair<long double, long double>(z.real(), z.imag()); };
    switch (type) {
    case scalar_type::f16:
        return {static_cast<float>(get(half{})), 0};
    case scalar_type::bf16:
        return {static_cast<float>(get(bfloat16{})), 0};
    case scalar_type::f32:
        return {get(0.0f), 0};
    case scalar_type::f64:
        return {get(0.0), 0};
    case scalar_type::c64:
        return both(get(std::complex<float>{}));
    default:
        return both(get(std::complex<double>{}));
    }
}

void fill_random(std::span<std::byte> memory, scalar_type type, std::mt19937_64& random, fill kind, double special) {
    const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double specials[] = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 0.0, -0.0};
    const auto draw = [&] {
        if (uniform() < special) return specials[random() % 5];
        return kind == fill::unit ? 2 * uniform() - 1 : static_cast<double>(random() % 9) - 4;
    };
    const auto size = static_cast<std::size_t>(size_of(type));
    for (std::size_t at = 0; at + size <= memory.size(); at += size) {
        const double re = draw();
        write_element(memory.data() + at, type, re, is_complex(type) ? draw() : 0);
    }
}

snapshot::snapshot(std::vector<std::span<std::byte>> memory) {
    for (const auto m : memory) parts_.push_back({m, {m.begin(), m.end()}});
}

std::string compare(const oracle_result& expected, const snapshot& before) {
    const auto size = static_cast<std::size_t>(size_of(expected.type));
    const number_format format = format_of(expected.type);
    std::vector<std::vector<bool>> written;
    for (const auto& p : before.parts()) written.emplace_back(p.now.size(), false);

    std::string report;
    std::int64_t wrong = 0;
    for (const expected_element& e : expected.elements) {
        const auto* address = static_cast<const std::byte*>(e.address);
        bool known = false;
        for (std::size_t p = 0; p < written.size(); ++p) {
            const auto now = before.parts()[p].now;
            if (address < now.data() || address + size > now.data() + now.size()) continue;
            const auto at = static_cast<std::size_t>(address - now.data());
            for (std::size_t b = at; b < at + size; ++b) written[p][b] = true;
            known = true;
        }
        if (!known) return "the snapshot does not hold an element that must be written";
        const auto [re, im] = read_element(address, expected.type);
        if (matches(re, im, e, format) || wrong++ >= reported) continue;
        report += fmt::format("at ({}): expected {}, found ({:.17g}, {:.17g})\n", indices(expected, e.ordinal),
                              described(e), re, im);
    }
    if (wrong) report += fmt::format("{} of {} elements are wrong\n", wrong, expected.elements.size());

    for (std::size_t p = 0; p < written.size(); ++p) {
        const auto& part = before.parts()[p];
        for (std::size_t b = 0; b < part.now.size(); ++b)
            if (!written[p][b] && part.now[b] != part.before[b]) {
                report += fmt::format("byte {} of buffer {} is no part of the result and was changed\n", b, p);
                break;
            }
    }
    return report;
}

} // namespace ricci::tests
