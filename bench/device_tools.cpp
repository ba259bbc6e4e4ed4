// device_tools: what the bench's tools have in common on all devices.
#include "bench/device_tools.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricci::bench {

namespace {

int digits_of(lowering::scalar_type type) {
    using enum lowering::scalar_type;
    switch (lowering::real_of(type)) {
    case f16:
        return 11;
    case bf16:
        return 8;
    case f32:
        return 24;
    default:
        return 53;
    }
}

/// Half the distance from 1 to the next number.
double unit_roundoff(lowering::scalar_type type) { return std::ldexp(1.0, -digits_of(type)); }

/// Each term is off by the roundings of two factors to TF32, 2^-11 each or, of who cuts digits off, 2^-10.
constexpr double rounded_terms = 8 * 0x1p-11;

} // namespace

random_numbers random_numbers_of(lowering::scalar_type type, std::uint64_t seed, double size) {
    const int digits = digits_of(type);
    return {seed, digits, std::ldexp(size, -digits)};
}

double operand_size(std::int64_t k) {
    return std::ldexp(
        1.0, -static_cast<int>(std::lround(std::log2(static_cast<double>(std::max<std::int64_t>(k, 1))) / 4)));
}

error_bound bound_of(const product& p) {
    const double unit = unit_roundoff(compute_type(p)), terms = static_cast<double>(p.k);
    const double rounded = is_rounded(p) ? rounded_terms : 0;
    return {unit * (8 + 16 * std::sqrt(terms)) + rounded, 2 * unit_roundoff(p.c.type)};
}

void compare(findings& found, const error_bound& bound, double off, double value, double size, std::int64_t number) {
    ++found.looked_at;
    off = std::abs(off);
    const double worst = off != off ? std::numeric_limits<double>::infinity() : size > 0 ? off / size : off;
    found.worst = std::max(found.worst, worst);
    if (off <= bound.sum * size + bound.last * std::abs(value)) return;
    if (found.wrong++ == 0) found.first = number;
}

std::unique_ptr<device_tools> make_device_tools(device where) {
    if (runtime::backend_of(where).machine().kind == lowering::target::cuda) return make_gpu_tools(where);
    return make_cpu_tools();
}

} // namespace ricci::bench
