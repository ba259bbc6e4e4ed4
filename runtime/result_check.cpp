// result_check: whether two kernels for the same step agree, rounding aside.
#include "runtime/result_check.hpp"

#include "lowering/families.hpp"
#include "runtime/half.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ricci::runtime {
namespace {

using namespace lowering;

double epsilon_of(scalar_type t) {
    switch (real_of(t)) {
    case scalar_type::f16:
        return 0x1p-11;
    case scalar_type::bf16:
        return 0x1p-8;
    case scalar_type::f32:
        return 0x1p-24;
    default:
        return 0x1p-53;
    }
}

template <class T>
double number_at(const std::vector<std::byte>& bytes, std::size_t n) {
    T x;
    std::memcpy(&x, bytes.data() + n * sizeof x, sizeof x);
    return static_cast<double>(x);
}

/// f(number n of these bytes as a function of the bytes, how many there are): for the type's real part.
template <class F>
auto with_numbers(scalar_type type, std::size_t bytes, const F& f) {
    switch (real_of(type)) {
    case scalar_type::f16:
        return f(number_at<half>, bytes / sizeof(half));
    case scalar_type::bf16:
        return f(number_at<bfloat16>, bytes / sizeof(bfloat16));
    case scalar_type::f32:
        return f(number_at<float>, bytes / sizeof(float));
    default:
        return f(number_at<double>, bytes / sizeof(double));
    }
}

bool agree_within(scalar_type type, const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                  double tolerance) {
    if (a.size() != b.size()) return false;
    return with_numbers(type, a.size(), [&](auto number, std::size_t count) {
        for (std::size_t n = 0; n < count; ++n)
            if (!(std::abs(number(a, n) - number(b, n)) <= tolerance)) return false;
        return true;
    });
}

double largest_in(scalar_type type, const std::vector<std::byte>& bytes) {
    return with_numbers(type, bytes.size(), [&](auto number, std::size_t count) {
        double out = 0;
        for (std::size_t n = 0; n < count; ++n) out = std::max(out, std::abs(number(bytes, n)));
        return out;
    });
}

} // namespace

bool agree(const step& st, const statement& s, const std::vector<step_output>& a, const std::vector<step_output>& b) {
    if (st.matrices.task != matrix_task::none) return agree_nearly(a, b);
    const auto k = static_cast<double>(extent_of(st, axis_class::k));
    double scale = 1;
    for (const auto& x : s.scalars) scale = std::max(scale, std::abs(x.real) + std::abs(x.imaginary));
    // Products of numbers evenly spread over [-1, 1] add up to a third of their number's root, and rarely to twice
    // that root. Every second of them is added by a step at the most, also by the tensor cores, which make three
    // products of eight numbers; a step rounds such a sum, the tensor cores towards zero.
    const auto type = st.operands[0].type;
    const auto products = is_complex(st.compute) ? 2 * k : k;
    const auto largest = 1 + 2 * std::sqrt(products);
    // One kernel may round to TF32 what another does not: twice a product, by chance up or down.
    const auto rounded = st.math == math_mode::tf32 ? 2 * 0x1p-11 : 0;
    const auto tolerance =
        scale * largest * (2 * (products / 2 + 4) * epsilon_of(st.compute) + rounded + 4 * epsilon_of(type));
    return a.size() == 1 && b.size() == 1 && agree_within(type, a[0].bytes, b[0].bytes, tolerance);
}

bool agree_nearly(const std::vector<step_output>& a, const std::vector<step_output>& b) {
    constexpr double roundings = 1000;
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const step_output& x, const step_output& y) {
        if (x == y) return true;
        const auto tolerance = [&] { return roundings * epsilon_of(x.type) * largest_in(x.type, x.bytes); };
        return x.type == y.type && !is_index(x.type) && agree_within(x.type, x.bytes, y.bytes, tolerance());
    });
}

} // namespace ricci::runtime
