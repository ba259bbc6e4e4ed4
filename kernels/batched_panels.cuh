// batched_panels: products too large for shared memory: X and Y stream through it in panels of k, several under way at a time, and C
// stays in registers until the end. A block computes all rows and some columns of one product.
//
// Where the operand's rows (or columns) lie along k, a panel is short lines of k_panel elements, else k_panel long lines.
// Constants: product.hpp's, batched_fma.cuh's, batched_mma.cuh's, and
//   threads_per_block, core
//   k_panel            steps of the sum in a panel
//   stages             panels that shared memory holds
//   column_blocks      blocks a product, each columns_of_block of its columns
//   region[3]          bytes from the start of a stage to the panel of X, of Y; [0] is unused
//   stage_bytes        bytes of a stage, a multiple of 128
//   lines_along_k[3]   of X, Y: whether lines run along k
//   c_along_rows       whether C's columns are contiguous
#pragma once

#include "product.hpp"
#include "ptx_copy.cuh"
#include "batched_tiles.cuh"

/// Panels of one operand. O: 1 X, whose other side is m rows, 2 Y, whose other side are the block's columns.
template <int O, class Element> class panel_stream {
    static constexpr int others = O == 1 ? static_cast<int>(m) : columns_of_block;
    static constexpr bool along_k = lines_along_k[O];
    static constexpr int lines = along_k ? others : k_panel, line_length = along_k ? k_panel : others;
    static constexpr int part = sizeof(typename real_part<Element>::type);

  public:
    /// `first` is the operand's element at k = 0 and the block's first column; `own` of the other side's lines exist.
    RICCI_FUNCTION panel_stream(const arguments& a, const Element* first, int own) : first_(first), own_(own) {
        const long long other_step = O == 1 ? m_offset(a, 1, 1) : n_offset(a, 1, 1);
        k_step_ = k_offset(a, O - 1, 1);
        line_step_ = along_k ? other_step : k_step_;
        step_in_line_ = along_k ? k_step_ : other_step;
        const long long bytes = line_step_ * static_cast<long long>(sizeof(Element));
        by_16_bytes_ = step_in_line_ == 1 && (reinterpret_cast<unsigned long long>(first) | static_cast<unsigned long long>(bytes)) % 16 == 0;
    }

    /// Starts to copy panel `number`; steps of the sum that do not exist are zero.
    RICCI_FUNCTION void load(unsigned char* stage, int number) const {
        if (by_16_bytes_) copy<16>(stage + region[O], number);
        else copy<part>(stage + region[O], number);
    }

  private:
    template <int Bytes> RICCI_FUNCTION void copy(unsigned char* to, int number) const {
        constexpr int chunks = (line_length * static_cast<int>(sizeof(Element)) + Bytes - 1) / Bytes;
        constexpr int pitch = (along_k ? (O == 1 ? row[1] : column[2]) : (O == 1 ? column[1] : row[2])) * static_cast<int>(sizeof(Element));
        const int steps_left = static_cast<int>(k) - number * k_panel;
        const int own_lines = along_k ? own_ : steps_left, own_length = along_k ? steps_left : own_;
        const Element* const from = first_ + number * k_panel * k_step_;
        RICCI_UNROLL_2
        for (int e = threadIdx.x; e < lines * chunks; e += threads_per_block) {
            const int line = e / chunks, at = e % chunks * Bytes;
            int valid = line < own_lines ? own_length * static_cast<int>(sizeof(Element)) - at : 0;
            valid = valid < 0 ? 0 : valid > Bytes ? Bytes : valid;
            const int element = at / static_cast<int>(sizeof(Element)), inside = at % static_cast<int>(sizeof(Element));
            const unsigned char* const source = reinterpret_cast<const unsigned char*>(from + line * line_step_ + element * step_in_line_) + inside;
            async_copy<Bytes>(to + line * pitch + at, valid > 0 ? static_cast<const void*>(source) : first_, valid);
        }
    }

    const Element* first_;
    long long k_step_, line_step_, step_in_line_;
    int own_;
    bool by_16_bytes_;
};

extern "C" __global__ void __launch_bounds__(threads_per_block) ricci_batched_panels(const __grid_constant__ arguments a) {
    RICCI_SHARED(memory);
    using tile = typename tile_of<core>::type;
    static_assert(tile::count * tile::threads == threads_per_block, "every thread has one tile");
    constexpr int panels = static_cast<int>((k + k_panel - 1) / k_panel);
    const long long block = block_number();
    if (block >= a.products * column_blocks) return;
    const int first_column = static_cast<int>(block % column_blocks) * columns_of_block;
    const int columns = n - first_column < columns_of_block ? static_cast<int>(n) - first_column : columns_of_block;
    const batch_offsets at = offsets_of(a, block / column_blocks);
    const panel_stream<1, x_element> x(a, static_cast<const x_element*>(a.x) + at.x, static_cast<int>(m));
    const panel_stream<2, y_element> y(a, static_cast<const y_element*>(a.y) + at.y + n_offset(a, 1, first_column), columns);
    RICCI_UNROLL
    for (int p = 0; p + 1 < stages; ++p) {
        if (p < panels) x.load(memory + p * stage_bytes, p), y.load(memory + p * stage_bytes, p);
        commit_async_copies();
    }
    if constexpr (accumulate) { // C is read last: meanwhile it comes as far as the L2 cache
        constexpr int lines = c_along_rows ? columns_of_block : static_cast<int>(m);
        const int length = (c_along_rows ? static_cast<int>(m) : columns) * static_cast<int>(sizeof(c_element)), own = c_along_rows ? columns : static_cast<int>(m);
        constexpr int most = (c_along_rows ? static_cast<int>(m) : columns_of_block) * static_cast<int>(sizeof(c_element)), chunks = (most + 127) / 128;
        for (int e = threadIdx.x; e < lines * chunks; e += threads_per_block) {
            const int line = e / chunks, byte = e % chunks * 128;
            if (line >= own || byte >= length) continue;
            const long long offset = at.c + (c_along_rows ? c_offset(a, 0, first_column + line) : c_offset(a, line, first_column));
            prefetch_to_l2(reinterpret_cast<const unsigned char*>(static_cast<const c_element*>(a.c) + offset) + byte);
        }
    }
    tile mine(threadIdx.x / tile::threads);
    RICCI_UNROLL_ONCE
    for (int p = 0; p < panels; ++p) {
        wait_async_copies<stages - 2>();
        __syncthreads(); // the panel is here for all, and all are done with the one before
        const int next = p + stages - 1;
        unsigned char* const into = memory + next % stages * stage_bytes;
        if (next < panels) x.load(into, next), y.load(into, next);
        commit_async_copies();
        const unsigned char* const stage = memory + p % stages * stage_bytes;
        mine.template add<k_panel>(reinterpret_cast<const x_element*>(stage + region[1]), reinterpret_cast<const y_element*>(stage + region[2]));
    }
    mine.finish([&](int i, int j, compute sum) {
        if (j < columns) store_c(a, at.c + c_offset(a, i, first_column + j), sum);
    });
}
