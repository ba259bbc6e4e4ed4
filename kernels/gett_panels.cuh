// gett_panels: brings X's rows or Y's columns of a block into shared memory, k_panel steps of the sum at a time, by
// asynchronous copies: of 16 bytes where neighbors in memory stand together whatever the block, else element by
// element; 2-byte elements by way of registers. What lies outside of a padded operand, or of the product, becomes
// zero.
//
// A panel has lines along the sum, one a row or column, or along the other side, one a step; neighboring threads copy
// neighbors of a line.
// Constants: gett_places.cuh's, threads_per_block, of which a line's elements are a divisor, and batched_panels'
// row[], column[], region[], lines[] (0 or 1) and pitch[].
#pragma once

#include "gett_places.cuh"
#include "ptx_copy.cuh"

/// Whether the elements along an axis group's first axis may be copied so many at a time: neighbors in memory, whole
/// groups of them wherever else an element goes, and none of them outside of the operand if one is not.
RICCI_FUNCTION bool has_groups(const long long* lengths, const long long* steps, int axes, int count) {
    bool whole = axes > 0 && steps[0] == 1 && lengths[0] % count == 0;
    RICCI_UNROLL
    for (int axis = 1; axis < axes; ++axis) whole = whole && steps[axis] % count == 0;
    return whole;
}
RICCI_FUNCTION bool has_multiples(const long long* steps, int axes, int count) {
    bool whole = true;
    RICCI_UNROLL
    for (int axis = 0; axis < axes; ++axis) whole = whole && steps[axis] % count == 0;
    return whole;
}

/// O: 1 X, 2 Y.
template <int O, class Element>
class gett_panels {
    static constexpr int size = sizeof(Element), part = sizeof(typename real_part<Element>::type);
    static constexpr int others = O == 1 ? rows_of_block : columns_of_block;
    static constexpr bool along_k = lines[O] == 0;
    static constexpr int line_length = along_k ? k_panel : others, line_count = along_k ? others : k_panel,
                         elements = k_panel * others;
    static constexpr int other_axes = O == 1 ? m_axes : n_axes;
    static constexpr int of_group = 16 / size; ///< elements of a 16-byte copy
    static constexpr bool may_group = of_group > 1 && line_length % of_group == 0;
    static constexpr int held_elements = size == 2 ? (elements + threads_per_block - 1) / threads_per_block : 1;
    static constexpr int places_together = 4; ///< read from shared memory before the first is used

    static_assert(lines[O] < 2 && line_length <= threads_per_block && threads_per_block % line_length == 0);

  public:
    /// `first`: the operand's element at row (column) 0 and step 0 of the product.
    RICCI_FUNCTION gett_panels(const gett_arguments& a, const Element* first, const place<O>* others_of_block)
        : others_(others_of_block), first_(first) {
        find_extents<O>(a, extent_);
        const auto address = reinterpret_cast<unsigned long long>(first);
        is_whole_ = address % (size < 16 ? size : 16) == 0;
        const long long* const other_steps = O == 1 ? a.m_step[1] : a.n_step[1];
        const long long* const other_lengths = O == 1 ? a.m_length : a.n_length;
        if constexpr (may_group) {
            groups_ = address % 16 == 0;
            if constexpr (along_k)
                groups_ = groups_ && has_groups(a.k_length, a.k_step[O - 1], k_axes, of_group) &&
                          has_multiples(other_steps, other_axes, of_group);
            else
                groups_ = groups_ && has_groups(other_lengths, other_steps, other_axes, of_group) &&
                          has_multiples(a.k_step[O - 1], k_axes, of_group);
            each_bound<O>([&](int, int b) {
                groups_ = groups_ && (along_k ? a.bound_sum_step[b][0] : a.bound_step[b][0]) == 0;
            });
        }
        if constexpr (!along_k) own_ = load_place<O>(others_[groups_ ? own_in_line<of_group>() : own_in_line<1>()]);
    }

    /// Starts to copy the panel of these steps.
    RICCI_FUNCTION void start(unsigned char* stage, const place<O>* steps) {
        unsigned char* const to = stage + region[O];
        if constexpr (may_group)
            if (groups_) return copy<of_group>(to, steps);
        copy<1>(to, steps);
    }
    /// Stores what came by way of registers.
    RICCI_FUNCTION void finish(unsigned char* stage) const {
        if constexpr (size == 2) {
            if (groups_) return;
            auto* const into = reinterpret_cast<unsigned short*>(stage + region[O]);
            RICCI_UNROLL
            for (int s = 0; s < held_elements; ++s)
                if (const int line = first_line<1>() + s * (threads_per_block / line_length);
                    elements % threads_per_block == 0 || line < line_count)
                    into[line * pitch[O] + own_in_line<1>()] = held_[s];
        }
    }

  private:
    /// Where in its line, and in which of a panel's lines, this thread's first copy is; the next ones are as far
    /// along in lines further on.
    template <int Count>
    static RICCI_FUNCTION int own_in_line() {
        return static_cast<int>(threadIdx.x) % (line_length / Count) * Count;
    }
    template <int Count>
    static RICCI_FUNCTION int first_line() {
        return static_cast<int>(threadIdx.x) / (line_length / Count);
    }

    template <int Count>
    RICCI_FUNCTION void copy(unsigned char* to, const place<O>* steps) {
        constexpr int copies = elements / Count, lines_apart = threads_per_block / (line_length / Count),
                      of_thread = (copies + threads_per_block - 1) / threads_per_block;
        const int line = first_line<Count>();
        const place<O> own = along_k ? load_place<O>(steps[own_in_line<Count>()]) : own_;
        const place<O>* const lines_of_panel = (along_k ? others_ : steps) + line;
        unsigned char* const into = to + (line * pitch[O] + own_in_line<Count>()) * size;
        const auto from = reinterpret_cast<unsigned long long>(first_) + own.offset;
        const auto exists = [&](int s) {
            return copies % threads_per_block == 0 || line + s * lines_apart < line_count;
        };
        RICCI_UNROLL
        for (int first = 0; first < of_thread; first += places_together) {
            place<O> beside[places_together];
            RICCI_UNROLL
            for (int i = 0; i < places_together; ++i)
                if (first + i < of_thread && exists(first + i))
                    beside[i] = load_place<O>(lines_of_panel[(first + i) * lines_apart]);
            RICCI_UNROLL
            for (int i = 0; i < places_together; ++i) {
                const int s = first + i;
                if (s >= of_thread || !exists(s)) break;
                const bool inside = is_inside<O>(own, beside[i], extent_);
                const auto* const source = reinterpret_cast<const void*>(from + beside[i].offset);
                unsigned char* const target = into + s * lines_apart * pitch[O] * size;
                if constexpr (Count == 1 && size == 2)
                    held_[s] = inside ? *static_cast<const unsigned short*>(source) : static_cast<unsigned short>(0);
                else if constexpr (Count == 1)
                    copy_element(target, source, inside);
                else
                    async_copy<16>(target, source, inside ? 16 : 0);
            }
        }
    }
    RICCI_FUNCTION void copy_element(unsigned char* to, const void* from, bool inside) const {
        if (part == size || is_whole_) return async_copy<size>(to, from, inside ? size : 0);
        async_copy<part>(to, from, inside ? part : 0); // of a complex number that is aligned as its parts are
        async_copy<part>(to + part, static_cast<const unsigned char*>(from) + part, inside ? part : 0);
    }

    const place<O>* others_;
    const Element* first_;
    place<O> own_;
    int extent_[bounds_of<O>()];
    bool groups_ = false, is_whole_;
    unsigned short held_[held_elements];
};
