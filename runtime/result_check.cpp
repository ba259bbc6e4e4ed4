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
bool agree_as(const std::vector<std::byte>& a, const std::vector<std::byte>& b, double tolerance) {
    for (std::size_t at = 0; at + sizeof(T) <= a.size(); at += sizeof(T)) {
        T x, y;
        std::memcpy(&x, a.data() + at, sizeof x);
        std::memcpy(&y, b.data() + at, sizeof y);
        if (!(std::abs(static_cast<double>(x) - static_cast<double>(y)) <= tolerance)) return false;
    }
    return true;
}

} // namespace

bool agree(const step& st, const statement& s, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    if (a.size() != b.size()) return false;
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
    switch (real_of(type)) {
    case scalar_type::f16:
        return agree_as<half>(a, b, tolerance);
    case scalar_type::bf16:
        return agree_as<bfloat16>(a, b, tolerance);
    case scalar_type::f32:
        return agree_as<float>(a, b, tolerance);
    default:
        return agree_as<double>(a, b, tolerance);
    }
}

} // namespace ricci::runtime
