// realign: copies 2-byte matrices within shared memory to lines that start at multiples of 16 bytes, so that
// load_matrices reads them, eight numbers an access and no bank twice; zeros fill them up to whole tiles. Matrices
// come from memory in one piece, whose lines begin anywhere: read from there a tensor core's numbers take an access
// each, several to a bank, and every warp reads them again.
// Constants, of X [1] and Y [2], in elements:
//   line_count, line_length            lines of a matrix as it came
//   all_line_count, all_line_length    and with the zeros behind them
//   from_pitch, realigned_pitch        from one line to the next as it came, and then
//   realigned_slot                     from one product to the next; 0: all share one matrix
//   realigned_region                   bytes from the start of shared memory
#pragma once

#include "product.hpp"

template <int O, class Element> RICCI_FUNCTION Element* realigned_matrix(unsigned char* memory, int p) {
    return reinterpret_cast<Element*>(memory + realigned_region[O]) + p * realigned_slot[O];
}

/// By all threads of the block. matrix(p): where product p's matrix came to.
template <int O, class Element, class Matrix>
RICCI_FUNCTION void realign(unsigned char* memory, int matrices, const Matrix& matrix) {
    static_assert(sizeof(Element) == 2, "two numbers a word");
    constexpr int words = all_line_length[O] / 2, across = words < threads_per_block ? words : threads_per_block,
                  per_pass = threads_per_block / across;
    constexpr int length = line_length[O], lines = all_line_count[O];
    const int first = threadIdx.x / across;
    if (threads_per_block % across != 0 && first >= per_pass) return;
    for (int word = threadIdx.x % across; word < words; word += across) {
        const bool has_low = 2 * word < length, has_high = 2 * word + 1 < length;
        RICCI_UNROLL_4
        for (int at = first; at < matrices * lines; at += per_pass) {
            const int p = at / lines, line = at % lines;
            const unsigned short* const from =
                reinterpret_cast<const unsigned short*>(matrix(p)) + line * from_pitch[O] + 2 * word;
            const bool exists = lines == line_count[O] || line < line_count[O];
            const unsigned low = exists && has_low ? from[0] : 0u, high = exists && has_high ? from[1] : 0u;
            reinterpret_cast<unsigned*>(realigned_matrix<O, Element>(memory, p) + line * realigned_pitch[O])[word] =
                low | high << 16;
        }
    }
}
