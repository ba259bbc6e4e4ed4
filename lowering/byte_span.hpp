// byte_span: the memory behind an access.
#pragma once

#include "lowering/statement.hpp"

#include <cstdint>

namespace ricci::lowering {

struct byte_span {
    std::uint64_t begin = 0, end = 0;
    bool is_apart_from(const byte_span& other) const { return end <= other.begin || other.end <= begin; }
};

/// The addresses that the whole tensor behind an access spans; empty for one without elements. Wraps for sizes that
/// fix_indices refuses.
inline byte_span span_of(const statement& s, const access& a) {
    std::uint64_t low = 0, high = 0;
    const auto base = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(a.data));
    for (int p = 0; p < a.position_count; ++p) {
        const auto& position = position_of(s, a, p);
        if (position.extent <= 0) return {base, base};
        const auto reach =
            static_cast<std::uint64_t>(position.stride) * static_cast<std::uint64_t>(position.extent - 1);
        (position.stride < 0 ? low : high) += reach;
    }
    const auto size = static_cast<std::uint64_t>(size_of(a.type));
    return {base + low * size, base + (high + 1) * size};
}

} // namespace ricci::lowering
