// scalar_type: the element types a tensor may have, as values, and how types combine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ricci::lowering {

/// Numbers first; then what an index table's entries are: integers, or the addresses of matrices.
enum class scalar_type : std::uint8_t { f16, bf16, f32, f64, c64, c128, i32, i64, address };

inline constexpr int scalar_type_count = 6; ///< of numbers

/// Whether a table in a position holds it, and nothing computes with it.
constexpr bool is_index(scalar_type t) { return t >= scalar_type::i32; }

/// Bytes of one element.
constexpr std::int64_t size_of(scalar_type t) {
    constexpr std::int64_t bytes[] = {2, 2, 4, 8, 8, 16, 4, 8, 8};
    return bytes[static_cast<int>(t)];
}

constexpr bool is_complex(scalar_type t) { return t == scalar_type::c64 || t == scalar_type::c128; }

/// The name used in dumps, on the command line and in kernels: f16, bf16, f32, f64, c64, c128, i32, i64, address.
constexpr std::string_view name_of(scalar_type t) {
    constexpr std::string_view names[] = {"f16", "bf16", "f32", "f64", "c64", "c128", "i32", "i64", "address"};
    return names[static_cast<int>(t)];
}

/// The type of numbers named `name`, if there is one.
constexpr std::optional<scalar_type> scalar_type_named(std::string_view name) {
    for (int t = 0; t < scalar_type_count; ++t)
        if (name_of(static_cast<scalar_type>(t)) == name) return static_cast<scalar_type>(t);
    return std::nullopt;
}

/// The same, or i32 or i64.
constexpr std::optional<scalar_type> element_type_named(std::string_view name) {
    for (const auto t : {scalar_type::i32, scalar_type::i64})
        if (name_of(t) == name) return t;
    return scalar_type_named(name);
}

/// The smallest type that holds both: f16 with bf16 is f32, f64 with c64 is c128.
constexpr scalar_type promote(scalar_type a, scalar_type b) {
    using enum scalar_type;
    if (a == b) return a;
    const bool two = a == f64 || b == f64 || a == c128 || b == c128;
    if (is_complex(a) || is_complex(b)) return two ? c128 : c64;
    return two ? f64 : f32;
}

/// The type a sum over elements of `t` is carried in: at least float.
constexpr scalar_type accumulator(scalar_type t) { return size_of(t) == 2 ? scalar_type::f32 : t; }

/// The real type of the same precision: c64 -> f32, c128 -> f64, reals themselves.
constexpr scalar_type real_of(scalar_type t) {
    using enum scalar_type;
    return t == c64 ? f32 : t == c128 ? f64 : t;
}

/// The complex type of the same precision, at least c64.
constexpr scalar_type complex_of(scalar_type t) {
    using enum scalar_type;
    return t == f64 || t == c128 ? c128 : c64;
}

/// How a GPU's tensor cores multiply f32, also as parts of c64: to the accuracy of f32, or each number rounded to
/// TF32, which has 11 bits of its 24. All else is exact to f32.
enum class math_mode : std::uint8_t { full, tf32 };

constexpr std::string_view name_of(math_mode m) { return m == math_mode::tf32 ? "tf32" : "full"; }

} // namespace ricci::lowering
