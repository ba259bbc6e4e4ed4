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
//   tiles_in_turn                      of a warp (batched_mma's tile_n, columns_apart): each gets its columns
//                                      together, two from every 2 * tiles_in_turn, and those that do not exist
//                                      stay what they were; 0: all stay in their order
//   columns_are_lines                  whether these columns are lines; else a line is a row of them
#pragma once

#include "line_share.cuh"
#include "product.hpp"

template <int O, class Element> RICCI_FUNCTION Element* realigned_matrix(unsigned char* memory, int p) {
    return reinterpret_cast<Element*>(memory + realigned_region[O]) + p * realigned_slot[O];
}

/// Of a warp's pairs of columns, the one that comes to stand at `pair`.
template <int O> RICCI_FUNCTION constexpr int pair_for(int pair) {
    return pair % 4 * at_least_one(tiles_in_turn[O]) + pair / 4;
}

/// The word of two numbers, of which the second or both may be behind the line's end.
template <int O> class realigned_word {
    static constexpr bool turns = tiles_in_turn[O] > 1 && !columns_are_lines[O];
    static constexpr int of_warp = 4 * at_least_one(tiles_in_turn[O]);
    unsigned kept_;

  public:
    int from;
    explicit RICCI_FUNCTION realigned_word(int to)
        : from(turns ? to / of_warp * of_warp + pair_for<O>(to % of_warp) : to) {
        const int own = line_length[O] - 2 * from;
        kept_ = own > 1 ? 0xffffffffu : own == 1 ? 0xffffu : 0u;
    }
    RICCI_FUNCTION unsigned read(const unsigned short* line) const {
        return (line[2 * from] | static_cast<unsigned>(line[2 * from + 1]) << 16) & kept_;
    }
};

/// Lines become those of the same number, with lines of zeros behind them.
template <int O, class Element, class Matrix>
RICCI_FUNCTION void realign_in_order(unsigned char* memory, int matrices, const Matrix& matrix) {
    constexpr int words = all_line_length[O] / 2, zeros = all_line_count[O] - line_count[O];
    const line_share<line_count[O], words> mine;
    const auto to = [&](int p, int line, int word) -> unsigned& {
        return reinterpret_cast<unsigned*>(realigned_matrix<O, Element>(memory, p) + line * realigned_pitch[O])[word];
    };
    mine.each(
        matrices,
        [&](int p, int line, int at) {
            return realigned_word<O>(at).read(reinterpret_cast<const unsigned short*>(matrix(p)) +
                                              line * from_pitch[O]);
        },
        [&](int p, int line, int at, unsigned word) { to(p, line, at) = word; });
    if constexpr (zeros > 0)
        line_share<zeros, words>().each(
            matrices, [&](int p, int line, int at) { to(p, line_count[O] + line, at) = 0; });
}

/// A warp's columns are lines, which change places: those of one slot of all its tiles stand two lines apart, and
/// will eight lines apart. Lines that do not exist are left out.
template <int O, class Element, class Matrix>
RICCI_FUNCTION void realign_in_turn(unsigned char* memory, int matrices, const Matrix& matrix) {
    constexpr int words = all_line_length[O] / 2, tiles = tiles_in_turn[O], of_warp = 8 * tiles,
                  warps = (line_count[O] + of_warp - 1) / of_warp;
    // a matrix for each warp, a line for each slot
    line_share<8, words>().each(matrices * warps, [&](int at, int slot, int at_word) {
        const int p = at / warps, first = at % warps * of_warp;
        const realigned_word<O> word(at_word);
        const int line = first + 2 * pair_for<O>(slot / 2) + slot % 2;
        const unsigned short* from = reinterpret_cast<const unsigned short*>(matrix(p)) + line * from_pitch[O];
        unsigned* to = reinterpret_cast<unsigned*>(realigned_matrix<O, Element>(memory, p) +
                                                   (first + slot) * realigned_pitch[O]) + at_word;
        const int left = (line_count[O] - line + 1) / 2, own = left < tiles ? left : tiles;
        constexpr int from_step = 2 * from_pitch[O], to_step = 4 * realigned_pitch[O];
        RICCI_UNROLL_ONCE
        for (int t = 0; t < own; t += 4, from += 4 * from_step, to += 4 * to_step) {
            unsigned got[4]; // read before the first is stored, behind which the compiler would leave them
            RICCI_UNROLL
            for (int i = 0; i < 4; ++i)
                if (t + i < own) got[i] = word.read(from + i * from_step);
            RICCI_UNROLL
            for (int i = 0; i < 4; ++i)
                if (t + i < own) to[i * to_step] = got[i];
        }
    });
}

/// By all threads of the block. matrix(p): where product p's matrix came to.
template <int O, class Element, class Matrix>
RICCI_FUNCTION void realign(unsigned char* memory, int matrices, const Matrix& matrix) {
    static_assert(sizeof(Element) == 2, "two numbers a word");
    if constexpr (tiles_in_turn[O] > 1 && columns_are_lines[O]) realign_in_turn<O, Element>(memory, matrices, matrix);
    else realign_in_order<O, Element>(memory, matrices, matrix);
}
