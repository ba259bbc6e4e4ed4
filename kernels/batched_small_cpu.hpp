// batched_small, for a CPU: one product after another by register_tile_cpu.hpp, or groups of tiny ones by
// packed_products_cpu.hpp where they lie without gaps, or those with one column by row_sums_cpu.hpp. What many
// products share is packed once.
// Constants: those of all three.
#pragma once

#include "packed_products_cpu.hpp"
#include "row_sums_cpu.hpp"

/// f(where matrices of C, X and Y lie, how many products there are from them on, each a batch step behind the one
/// before) for all products in [first, last), in order.
template <class F> RICCI_FUNCTION void for_each_run(const arguments& a, long long first, long long last, const F& f) {
    for (long long b = first; b < last;) {
        long long count = 1;
        if constexpr (!has_tables && batch_axes > 0) {
            const long long to_end = batch_axes == 1 ? last - b : a.batch_length[0] - b % a.batch_length[0];
            count = to_end < last - b ? to_end : last - b;
        }
        f(places_of(a, b), count);
        b += count;
    }
}

/// Products [first, last). A template, so that a kernel has one of its two branches only.
template <class Arguments> RICCI_FUNCTION void multiply_all(const Arguments& a, long long first, long long last) {
    if constexpr (adds_along_k) {
        for_each_run(a, first, last, [&](batch_places at, long long count) RICCI_INLINED {
            products_by_rows(a, at, count);
        });
    } else {
        packed_operands packed;
        clear_padding(packed);
        const x_element* packed_x = nullptr;
        const y_element* packed_y = nullptr;
        const bool dense = a.batch_step[0][0] == dense_step[0] && a.batch_step[1][0] == dense_step[1] &&
                           a.batch_step[2][0] == dense_step[2];
        for_each_run(a, first, last, [&](batch_places at, long long count) RICCI_INLINED {
            if constexpr (group > 1)
                if (dense)
                    for (; count >= group; count -= group) {
                        product_group<group>(a, at.x, at.y, at.c);
                        at.c += group * dense_step[0], at.x += group * dense_step[1], at.y += group * dense_step[2];
                    }
            for (; count > 0; --count) {
                if constexpr (x_is_packed)
                    if (at.x != packed_x) pack_x(a, packed_x = at.x, packed);
                if constexpr (y_is_packed)
                    if (at.y != packed_y) pack_y(a, packed_y = at.y, packed);
                if constexpr (x_is_packed || y_is_packed) leave_in_memory(&packed);
                const auto *next_x = at.x + products_ahead * a.batch_step[1][0];
                const auto *next_y = at.y + products_ahead * a.batch_step[2][0];
                const auto *next_c = at.c + products_ahead * a.batch_step[0][0];
                product_by_tiles(a, {at.x, at.y, &packed, next_x, next_y, next_c}, at.c);
                at.c += a.batch_step[0][0], at.x += a.batch_step[1][0], at.y += a.batch_step[2][0];
            }
        });
    }
}

extern "C" void ricci_batched_small(const void* words, long long first, long long last) {
    multiply_all(*static_cast<const arguments*>(words), first, last);
}
