// lane_stream: brings an operand of interleaved products into shared memory panel by panel, each `k_panel` steps of
// the sum, by asynchronous copies: for each step and each of the block's rows (columns) a line, that element of
// neighboring products.
//
// Lines are copied 16 bytes at a time where all are aligned to that, else by elements. Odd counts of 2-byte elements
// leave lines aligned to 2 bytes only, fewer than an asynchronous copy takes: then a line lies in shared memory 2
// bytes further where its address is odd in that sense, comes by words, and its readers ask for its shift. Constants:
// product.hpp's, and
//   threads_per_block, products_per_block, k_panel
//   rows_of_block, columns_of_block
//   lines[3]           a step, of X and Y: rows, columns of all tiles, also of those that end behind the block's
//   for_all[3]         of X [1] and Y [2]: whether all products share one matrix; a line is then one element
//   pitch[3]           bytes from one line to the next
//   region[3]          bytes from the start of a stage to the panel
#pragma once

#include "product.hpp"
#include "ptx_copy.cuh"

/// O: 1 X, 2 Y.
template <int O, class Element> class lane_stream {
    static constexpr int others = O == 1 ? rows_of_block : columns_of_block;
    static constexpr int lanes = for_all[O] ? 1 : products_per_block; // elements of a line
    static constexpr int line_count = others * k_panel;
    static constexpr int size = sizeof(Element), part = sizeof(typename real_part<Element>::type);
    static constexpr bool single_axes = k_axes <= 1;

  public:
    static constexpr bool shifts = size == 2 && lanes > 1 && single_axes; ///< whether lines may be shifted

    /// `first`: the element of the block's first product, row or column, and step; `own_others` rows or columns and
    /// `own_products` exist; `has_before`: whether the product before the first one does, beside it in memory.
    RICCI_FUNCTION lane_stream(const arguments& a, const Element* first, int own_others, int own_products,
                               bool has_before)
        : arguments_(a), first_(first), own_others_(own_others), own_products_(own_products), has_before_(has_before),
          other_step_(O == 1 ? m_offset(a, 1, 1) : n_offset(a, 1, 1)), k_step_(k_offset(a, O - 1, 1)) {
        misaligned_ = static_cast<unsigned>(reinterpret_cast<unsigned long long>(first) |
                                            static_cast<unsigned long long>((other_step_ | k_step_) * size));
        if (!single_axes || lanes == 1) misaligned_ |= part;
    }

    /// Starts to copy panel `number` to `stage`; steps that do not exist become zero.
    RICCI_FUNCTION void load(unsigned char* stage, int number) const {
        unsigned char* const to = stage + region[O];
        if constexpr (lanes > 1)
            if (misaligned_ % 16 == 0) return copy<16>(to, number);
        if constexpr (shifts)
            copy_words(to, number);
        else
            copy<part>(to, number);
    }

    /// Whether lines are shifted.
    RICCI_FUNCTION bool is_shifted() const { return shifts && misaligned_ % 4 != 0; }

    /// Bytes by which the line of row (column) `other` is then shifted at a step.
    RICCI_FUNCTION int shift(int other, int step) const {
        return shifts ? static_cast<int>((bytes_of(first_) + 2 * (other * other_step_ + step * k_step_)) & 2) : 0;
    }

  private:
    static RICCI_FUNCTION long long bytes_of(const Element* p) {
        return static_cast<long long>(reinterpret_cast<unsigned long long>(p));
    }

    // What a panel's copies need is computed anew for each: kept over the sums, it would take their registers.
    /// f(where a line begins in the panel, its first element, whether it exists) for every PerPass-th line.
    template <int PerPass, class F> RICCI_FUNCTION void for_lines(int first_line, int number, const F& f) const {
        constexpr int passes = (line_count + PerPass - 1) / PerPass;
        const int begin = number * k_panel, left = static_cast<int>(k) - begin,
                  own_steps = left < k_panel ? left : k_panel;
        if constexpr (single_axes) { // by additions only: 2 bytes a lane leave few instructions a byte
            constexpr int steps = PerPass / others, rest = PerPass % others;
            const long long other_step = as_if_new(other_step_), k_step = as_if_new(k_step_);
            int other = first_line % others, step = first_line / others;
            const Element* from = first_ + other * other_step + (begin + step) * k_step;
            const long long advance = rest * other_step + steps * k_step, wrap = k_step - others * other_step;
            RICCI_UNROLL_2
            for (int pass = 0; pass < passes; ++pass) {
                if (line_count % PerPass == 0 || first_line + pass * PerPass < line_count)
                    f((other + step * lines[O]) * pitch[O], from, other < own_others_ && step < own_steps);
                other += rest, step += steps, from += advance;
                if (rest != 0 && other >= others) other -= others, ++step, from += wrap;
            }
        } else {
            RICCI_UNROLL_2
            for (int line = first_line; line < line_count; line += PerPass) {
                const int other = line % others, step = line / others;
                const bool exists = other < own_others_ && step < own_steps;
                f((other + step * lines[O]) * pitch[O],
                  first_ + (exists ? other * other_step_ + k_offset(arguments_, O - 1, begin + step) : 0), exists);
            }
        }
    }

    template <int Bytes> RICCI_FUNCTION void copy(unsigned char* to, int number) const {
        constexpr int chunks = lanes * size / Bytes, across = largest_part(chunks),
                      per_pass = threads_per_block / across;
        static_assert(chunks > 0 && chunks % across == 0, "lines begin with the same thread");
        const int thread = as_if_new(static_cast<int>(threadIdx.x)), first_line = thread / across;
        if (threads_per_block % across != 0 && first_line >= per_pass) return;
        RICCI_UNROLL
        for (int begin = 0; begin < chunks; begin += across) {
            const int at = (begin + thread % across) * Bytes, left = (lanes == 1 ? 1 : own_products_) * size - at,
                      own = left < 0       ? 0
                            : left > Bytes ? Bytes
                                           : left;
            for_lines<per_pass>(first_line, number, [&](int place, const Element* from, bool exists) {
                const int valid = exists ? own : 0;
                const unsigned char* const source = valid > 0 ? reinterpret_cast<const unsigned char*>(from) + at
                                                              : reinterpret_cast<const unsigned char*>(first_);
                unsigned char* const target = to + place + at;
                if constexpr (Bytes >= 4)
                    async_copy<Bytes>(target, source, valid);
                else
                    *reinterpret_cast<unsigned short*>(target) =
                        valid > 0 ? *reinterpret_cast<const unsigned short*>(source) : static_cast<unsigned short>(0);
            });
        }
    }

    /// A line's words are those of memory: of a shifted one, the first begins with the product before, and one more
    /// ends it.
    RICCI_FUNCTION void copy_words(unsigned char* to, int number) const {
        constexpr int words = lanes / 2, per_pass = threads_per_block / words;
        static_assert(words > 0 && per_pass > 0, "a line is copied at once");
        const int thread = as_if_new(static_cast<int>(threadIdx.x)), first_line = thread / words,
                  word = thread % words;
        const Element* const nothing =
            reinterpret_cast<const Element*>(reinterpret_cast<unsigned long long>(first_) & ~3ull);
        if (threads_per_block % words == 0 || first_line < per_pass)
            for_lines<per_pass>(first_line, number, [&](int place, const Element* from, bool exists) {
                const int begin = 2 * word - (is_shifted(from) ? 1 : 0), left = own_products_ - begin;
                unsigned char* const target = to + place + 4 * word;
                if (exists && begin < 0 && !has_before_) {
                    reinterpret_cast<unsigned short*>(target)[1] = *reinterpret_cast<const unsigned short*>(from);
                    return;
                }
                const int valid = !exists || left <= 0 ? 0 : left == 1 ? 2 : 4;
                async_copy<4>(target, valid > 0 ? from + begin : nothing, valid);
            });
        if (misaligned_ % 4 == 0) return;
        for_lines<threads_per_block>(thread, number, [&](int place, const Element* from, bool exists) {
            if (!is_shifted(from)) return;
            const int valid = exists && own_products_ == lanes ? 2 : 0;
            async_copy<4>(to + place + 4 * words, valid > 0 ? from + lanes - 1 : nothing, valid);
        });
    }

    /// Of a line's chunks, a power of two, as many as there are threads for.
    static constexpr RICCI_FUNCTION int largest_part(int chunks) {
        return chunks <= threads_per_block ? chunks : largest_part(chunks / 2);
    }

    static RICCI_FUNCTION bool is_shifted(const Element* from) { return bytes_of(from) % 4 != 0; }

    const arguments& arguments_;
    const Element* first_;
    int own_others_, own_products_;
    bool has_before_;
    long long other_step_, k_step_;
    unsigned misaligned_;
};
