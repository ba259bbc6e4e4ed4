// example: what the examples of docs/ are checked with: values as the pages write them.
#pragma once

#include <ricci/ricci.hpp>

#include "runtime/backend.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"

#include <fmt/format.h>

#include <complex>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ricci::tests {

inline bool device_is_there() {
    const char* wanted = std::getenv("RICCI_DEVICE");
    return wanted == nullptr || std::string_view(wanted) != "cuda" || runtime::cuda_device_count() > 0;
}
inline const bool possible = test::skip_unless(device_is_there(), "no usable GPU");

/// The elements of a view on the CPU, first index fastest.
template <class T, int Rank>
std::vector<std::remove_const_t<T>> elements_of(const view<T, Rank>& v) {
    std::vector<std::remove_const_t<T>> out;
    for (std::int64_t n = 0; n < v.size(); ++n) {
        std::int64_t rest = n, offset = 0;
        for (int r = 0; r < Rank; ++r)
            offset += rest % v.extent(r) * v.strides()[static_cast<std::size_t>(r)], rest /= v.extent(r);
        out.push_back(v.data()[offset]);
    }
    return out;
}

/// A number, text, "(re, im)", or "{a, b}" for a tensor, a view or a range.
template <class X>
std::string shown(const X& x) {
    if constexpr (std::is_same_v<X, bool>) {
        return x ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<X>) {
        return fmt::format("{}", x);
    } else if constexpr (std::is_convertible_v<X, std::string_view>) {
        return std::string(std::string_view(x));
    } else if constexpr (dsl::is_complex_scalar<X>) {
        return fmt::format("({}, {})", x.real(), x.imag());
    } else if constexpr (dsl::scalar<X>) { // half, bfloat16
        return shown(static_cast<float>(x));
    } else if constexpr (dsl::expression<X>) {
        return shown(dsl::number_of(x));
    } else if constexpr (std::is_convertible_v<X, std::int32_t>) { // an entry of an index table
        return shown(static_cast<std::int32_t>(x));
    } else if constexpr (requires { x.download(); }) {
        return shown(x.download());
    } else if constexpr (requires { x.strides(); }) {
        return shown(elements_of(x));
    } else {
        std::string text;
        for (const auto& element : x) text += (text.empty() ? "" : ", ") + shown(element);
        return "{" + text + "}";
    }
}

/// A value as a page writes it; "..." stands for further digits.
struct as_shown {
    std::string_view text;
    friend bool operator==(const std::string& value, const as_shown& page) {
        std::size_t at = 0;
        for (std::size_t p = 0; p < page.text.size();) {
            if (page.text.substr(p).starts_with("...")) {
                p += 3;
                while (at < value.size() && value[at] >= '0' && value[at] <= '9') ++at;
            } else if (at == value.size() || value[at++] != page.text[p++]) {
                return false;
            }
        }
        return at == value.size();
    }
    friend std::ostream& operator<<(std::ostream& out, const as_shown& page) { return out << page.text; }
};

/// The message that `statement` throws; empty if it throws none.
inline std::string message_of(const std::function<void()>& statement) {
    try {
        statement();
    } catch (const error& e) {
        return e.what();
    }
    return "";
}

} // namespace ricci::tests
