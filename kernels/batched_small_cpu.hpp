// batched_small, for a CPU: one product after another by register_tile_cpu.hpp, or groups of tiny ones by
// packed_products_cpu.hpp where they lie without gaps. What many products share is packed once.
// Constants: those of both; products_ahead: how far ahead of what is multiplied X and Y are fetched, 0: left to the
// machine.
#pragma once

#include "packed_products_cpu.hpp"

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

/// Elements between the first and the last of a matrix with constant strides; 0 where they are none, or far apart.
constexpr int span_of(long long rows, long long row_step, long long columns, long long column_step) {
    if (row_step == argument || column_step == argument || row_step < 0 || column_step < 0) return 0;
    const long long span = (rows - 1) * row_step + (columns - 1) * column_step + 1;
    return span <= 2 * rows * columns ? static_cast<int>(span) : 0;
}
constexpr bool single_axes = m_axes == 1 && n_axes == 1 && k_axes == 1;
constexpr int x_span = single_axes ? span_of(m, m_stride[1][0], k, k_stride[0][0]) : 0;
constexpr int y_span = single_axes ? span_of(k, k_stride[1][0], n, n_stride[1][0]) : 0;

template <int Span, class T> RICCI_FUNCTION void fetch(const T* p) {
    constexpr int line = 64;
    for_each_of<(Span * static_cast<int>(sizeof(T)) + line - 1) / line>(
        [&](auto i) RICCI_INLINED { __builtin_prefetch(reinterpret_cast<const char*>(p) + i * line, 0, 3); });
}

extern "C" void ricci_batched_small(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
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
                    if constexpr (products_ahead > 0) {
                        fetch<group * x_span>(at.x + products_ahead * group * dense_step[1]);
                        fetch<group * y_span>(at.y + products_ahead * group * dense_step[2]);
                    }
                    product_group<group>(a, at.x, at.y, at.c);
                    at.c += group * dense_step[0], at.x += group * dense_step[1], at.y += group * dense_step[2];
                }
        for (; count > 0; --count) {
            if constexpr (products_ahead > 0) {
                fetch<x_span>(at.x + products_ahead * a.batch_step[1][0]);
                fetch<y_span>(at.y + products_ahead * a.batch_step[2][0]);
            }
            if constexpr (x_is_packed)
                if (at.x != packed_x) pack_x(a, packed_x = at.x, packed);
            if constexpr (y_is_packed)
                if (at.y != packed_y) pack_y(a, packed_y = at.y, packed);
            product_by_tiles(a, {at.x, at.y, &packed}, at.c);
            at.c += a.batch_step[0][0], at.x += a.batch_step[1][0], at.y += a.batch_step[2][0];
        }
    });
}
