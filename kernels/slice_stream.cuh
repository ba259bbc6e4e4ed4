// slice_stream: moves slices of C, X and Y between global memory and the stages of a ring in shared memory, by warps
// of their own.
//
// A slice is a few lines of an operand, as many as a stage takes; a line are neighbors in memory:
//   C     columns
//   X     columns (steps of the sum) or rows, whichever are neighbors
//   Y     of a few columns: those columns, or all rows of them
//
//   a slice is  where                                         how it moves
//   one run     lines follow one another in memory with few   one bulk copy; lines lie as they do in memory, at its
//               gaps (in C none), their banks do not matter   address modulo 128
//   lines       else, where all start at multiples of 16      here 16 bytes at a time, as far apart as bank
//               bytes                                         conflicts want it (a bulk copy each takes a warp 50
//                                                             to 100 cycles), back by bulk copies, while others
//                                                             compute
//   elements    else                                          one by one, as far apart
// Up to 15 bytes at either end of a copy, which the engine cannot move, go number by number.
//
// Constants: product.hpp's, and
//   along_k[3]         of X [1] and Y [2]: whether neighbors in memory are neighbors in k
//   is_run[3]          of C, X, Y
//   pitch[3]           elements in shared memory from one line to the next
//   region[3]          bytes from the start of a stage to the slice, multiples of 128
//   columns_of_slice   of C and Y
//   lines_of_slice     of X
#pragma once

#include "product.hpp"
#include "span_copy.cuh"

#if RICCI_BULK_COPIES

RICCI_FUNCTION constexpr int slices(long long extent, int of_slice) {
    return static_cast<int>((extent + of_slice - 1) / of_slice);
}
/// How much of `extent` slice `number` has.
RICCI_FUNCTION int own_part(int number, int of_slice, long long extent) {
    const int left = static_cast<int>(extent) - number * of_slice;
    return left < of_slice ? left : of_slice;
}
constexpr int x_slices = slices(along_k[1] ? m : k, lines_of_slice), column_slices = slices(n, columns_of_slice);

/// O: 0 C, 1 X, 2 Y.
template <int O, class Element> class slice_stream {
    using unit = unit_of<Element>;
    static constexpr int size = sizeof(Element), unit_bytes = sizeof(unit);
    static constexpr bool cuts_lines = O == 2 && !along_k[2]; ///< else slices are of whole lines
    static constexpr int most_lines = O == 1 ? lines_of_slice : cuts_lines ? static_cast<int>(k) : columns_of_slice;
    static constexpr int all_lines = static_cast<int>(O == 1 ? (along_k[1] ? m : k) : cuts_lines ? k : n);
    static constexpr int most_length = static_cast<int>(O == 0       ? m
                                                        : cuts_lines ? columns_of_slice
                                                        : along_k[O] ? k
                                                                     : m);

  public:
    /// Beside bulk copies.
    static constexpr bool copies_asynchronously = unit_bytes >= 4 || !is_run[O], copies_plainly = unit_bytes < 4;

    /// Of the product whose matrix begins at `matrix`.
    RICCI_FUNCTION slice_stream(const arguments& a, Element* matrix) : matrix_(matrix), line_step_(step(a)) {}

    /// Bytes from the start of a stage to slice `number`.
    RICCI_FUNCTION int place(int number) const {
        return region[O] +
               (is_run[O] ? static_cast<int>(reinterpret_cast<unsigned long long>(first(number)) % 128) : 0);
    }

    /// How many bytes the bulk copy that thread `t` asks for brings of slice `number`.
    RICCI_FUNCTION int bulk_bytes(int number, int t) const {
        return is_run[O] && t == 0 ? parts_of(first(number), run_bytes(number)).middle : 0;
    }

    /// By `threads` threads: starts to copy slice `number`. What bulk copies do not, asynchronous ones bring, but
    /// numbers of 2 bytes plain ones.
    RICCI_FUNCTION void load(unsigned char* stage, int number, copy_barrier& b, int t, int threads) const {
        unsigned char* const to = stage + place(number);
        if constexpr (is_run[O])
            each_bulk(number, t, threads, [&](long long offset, int byte, int bytes) {
                bulk_load(to + byte, bytes_of(number) + offset, bytes, b);
            });
        else if (lines_are_aligned())
            each_piece<most_length * size / 16, 16>(
                number, 0, whole_bytes(number), t, threads,
                [&](long long offset, int byte) { async_copy<16>(to + byte, bytes_of(number) + offset, 16); });
        each_unit(number, t, threads, [&](long long offset, int byte) {
            const unit* const from = reinterpret_cast<const unit*>(bytes_of(number) + offset);
            if constexpr (unit_bytes >= 4)
                async_copy<unit_bytes>(to + byte, from, unit_bytes);
            else
                *reinterpret_cast<unit*>(to + byte) = *from;
        });
    }

    /// By the threads of one warp: slice `number` goes to memory.
    RICCI_FUNCTION void store(unsigned char* stage, int number) const {
        unsigned char* const from = stage + place(number);
        const int lane = threadIdx.x % 32;
        each_bulk(number, lane, 32, [&](long long offset, int byte, int bytes) {
            bulk_store(bytes_of(number) + offset, from + byte, bytes);
        });
        each_unit(number, lane, 32, [&](long long offset, int byte) {
            *reinterpret_cast<unit*>(bytes_of(number) + offset) = *reinterpret_cast<const unit*>(from + byte);
        });
        wait_bulk_stores();
    }

  private:
    static RICCI_FUNCTION long long step(const arguments& a) {
        return O == 0       ? n_offset(a, 0, 1)
               : along_k[O] ? (O == 1 ? m_offset(a, 1, 1) : n_offset(a, 1, 1))
                            : k_offset(a, O - 1, 1);
    }
    static RICCI_FUNCTION int line_count(int number) {
        return cuts_lines ? all_lines : own_part(number, most_lines, all_lines);
    }
    static RICCI_FUNCTION int line_length(int number) {
        return cuts_lines ? own_part(number, columns_of_slice, n) : most_length;
    }
    static RICCI_FUNCTION int run_bytes(int number) {
        return ((line_count(number) - 1) * pitch[O] + line_length(number)) * size;
    }

    RICCI_FUNCTION Element* first(int number) const {
        return matrix_ + (cuts_lines ? number * columns_of_slice : number * most_lines * line_step_);
    }
    RICCI_FUNCTION unsigned char* bytes_of(int number) const {
        return reinterpret_cast<unsigned char*>(first(number));
    }
    RICCI_FUNCTION bool lines_are_aligned() const {
        return (reinterpret_cast<unsigned long long>(matrix_) | static_cast<unsigned long long>(line_step_ * size) |
                (cuts_lines ? columns_of_slice * size : 0)) %
                   16 ==
               0;
    }

    /// Of an aligned line, what copies of 16 bytes take.
    static RICCI_FUNCTION int whole_bytes(int number) { return line_length(number) * size / 16 * 16; }

    /// f(bytes in memory from the slice's start, bytes in shared memory, how many) for each bulk copy that is this
    /// thread's.
    template <class F> RICCI_FUNCTION void each_bulk(int number, int t, int threads, const F& f) const {
        if constexpr (is_run[O]) {
            const span_parts parts = parts_of(first(number), run_bytes(number));
            if (t == 0 && parts.middle > 0) f(parts.head, parts.head, parts.middle);
        } else if (lines_are_aligned()) {
            const int lines = line_count(number), bytes = whole_bytes(number);
            if (bytes == 0) return;
            RICCI_UNROLL_ONCE
            for (int l = t; l < lines; l += threads) f(l * line_step_ * size, l * pitch[O] * size, bytes);
        }
    }

    /// f(bytes in memory from the slice's start, bytes in shared memory) for each piece of the lines that is this
    /// thread's: a line has Most pieces, those from `begin` on, and of them fewer in a slice of few columns. By
    /// additions only: one warp or two copy all.
    template <int Most, int Bytes, class F>
    RICCI_FUNCTION void each_piece(int number, int begin, int end, int t, int threads, const F& f) const {
        if constexpr (Most > 0) {
            const int lines = line_count(number), lines_on = threads / Most, pieces_on = threads % Most;
            const long long step = line_step_ * size;
            int l = t / Most, piece = t % Most, place = l * pitch[O] * size + begin + piece * Bytes;
            long long offset = l * step + begin + piece * Bytes;
            RICCI_UNROLL_2
            for (; l < lines; l += lines_on) {
                if (begin + piece * Bytes < end) f(offset, place);
                piece += pieces_on, place += lines_on * pitch[O] * size + pieces_on * Bytes,
                    offset += lines_on * step + pieces_on * Bytes;
                if (piece >= Most)
                    piece -= Most, ++l, place += pitch[O] * size - Most * Bytes, offset += step - Most * Bytes;
            }
        }
    }

    /// f(the same, the same) for each unit that is this thread's.
    template <class F> RICCI_FUNCTION void each_unit(int number, int t, int threads, const F& f) const {
        if constexpr (is_run[O]) {
            const span_parts parts = parts_of(first(number), run_bytes(number));
            const int in_head = parts.head / unit_bytes, ends = in_head + parts.tail / unit_bytes;
            if (t < ends) {
                const int byte = (t < in_head ? t : t + parts.middle / unit_bytes) * unit_bytes;
                f(byte, byte);
            }
        } else if (lines_are_aligned()) {
            const int begin = whole_bytes(number), end = line_length(number) * size;
            if (begin < end) each_piece<16 / unit_bytes, unit_bytes>(number, begin, end, t, threads, f);
        } else {
            each_piece<most_length * size / unit_bytes, unit_bytes>(number, 0, line_length(number) * size, t, threads,
                                                                    f);
        }
    }

    Element* matrix_;
    long long line_step_; ///< elements from one line to the next
};

#endif
