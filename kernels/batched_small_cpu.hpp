// batched_small, for a CPU: one product after another, each by register_tile_cpu.hpp. What many products share is
// packed once. Constants: register_tile_cpu.hpp's.
#pragma once

#include "register_tile_cpu.hpp"

/// f(where product b's matrices lie) for b in [first, last), in order.
template <class F> RICCI_FUNCTION void for_each_product(const arguments& a, long long first, long long last, const F& f) {
    if constexpr (has_tables || batch_axes == 0) {
        for (long long b = first; b < last; ++b) f(places_of(a, b));
    } else {
        for (long long b = first; b < last;) {
            batch_places at = places_of(a, b);
            const long long to_end = batch_axes == 1 ? last - b : a.batch_length[0] - b % a.batch_length[0];
            const long long count = to_end < last - b ? to_end : last - b;
            for (long long i = 0; i < count; ++i) {
                f(at);
                at.c += a.batch_step[0][0], at.x += a.batch_step[1][0], at.y += a.batch_step[2][0];
            }
            b += count;
        }
    }
}

extern "C" void ricci_batched_small(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    packed_operands packed{};
    const x_element* packed_x = nullptr;
    const y_element* packed_y = nullptr;
    for_each_product(a, first, last, [&](const batch_places& at) RICCI_INLINED {
        if constexpr (x_is_packed)
            if (at.x != packed_x) pack_x(a, packed_x = at.x, packed);
        if constexpr (y_is_packed)
            if (at.y != packed_y) pack_y(a, packed_y = at.y, packed);
        product_by_tiles(a, {at.x, at.y, &packed}, at.c);
    });
}
