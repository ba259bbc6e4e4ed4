// panel_stream: brings an operand into shared memory panel by panel, each `k_panel` steps of the sum, by asynchronous
// copies of 16 bytes where its alignment allows, of single numbers where not.
//
// Complete panels whose lines start anywhere are copied number by number, each line by up to a warp of threads that
// take neighbors and only count up addresses; 2-byte numbers by words, which shift_into_place moves where a line begins
// between two. What ends within a panel, has other steps or is one line, and all of blocks that are no whole warps, is
// copied with an address of its own for each access.
//
// An operand has lines along k, its other side (the block's rows of X, its columns of Y) one line each; or lines
// along the other side, one a step; or, if those follow one another without a gap, one line a panel; or boxes of
// lines along k, one after another: see ptx_box.cuh.
// Constants: product.hpp's, and
//   k_panel
//   rows_of_block, columns_of_block
//   row[3], column[3]  elements from one row, column to the next in a panel, of X [1] and Y [2]
//   region[3]          bytes from the start of a stage to the panel
//   lines[3]           of X, Y: 0 along k, 1 along the other side, 2 whole panels, the other side fastest, 3 whole
//                      panels, k fastest, 4 boxes
//   pitch[3]           elements from one line to the next
#pragma once

#include "product.hpp"
#include "ptx_box.cuh"

/// O: 1 X, 2 Y.
template <int O, class Element> class panel_stream {
    static constexpr int others = O == 1 ? rows_of_block : columns_of_block;
    static constexpr bool has_boxes_of = lines[O] == 4, has_lines_along_k = lines[O] == 0 || has_boxes_of,
                          is_whole = lines[O] == 2 || lines[O] == 3;
    static constexpr int line_count = has_lines_along_k ? others : lines[O] == 1 ? k_panel : 1;
    static constexpr int line_length = has_lines_along_k ? k_panel : lines[O] == 1 ? others : k_panel * others;
    static constexpr int size = sizeof(Element), part = sizeof(typename real_part<Element>::type);
    static constexpr int other_axes = O == 1 ? m_axes : n_axes;
    static constexpr int of_box = box_line / size, box_bytes = (others + 7) / 8 * 8 * box_line; ///< steps; with gaps

  public:
    /// `first`: the operand's element at the stream's first step, row and column; `own` of the other side exist;
    /// `steps` in all; `places`: offsets of the block's rows or columns, null where they are one step apart.
    RICCI_FUNCTION panel_stream(const arguments& a, const Element* first, int own, long long steps,
                                const long long* places = nullptr)
        : arguments_(a), first_(first), own_(own), steps_(steps), places_(places) {
        const bool along_k = has_lines_along_k || lines[O] == 3;
        const long long k_step = k_offset(a, O - 1, 1), other_step = O == 1 ? m_offset(a, 1, 1) : n_offset(a, 1, 1);
        const long long in_line = along_k ? k_step : other_step, between = is_whole  ? 0
                                                                           : along_k ? other_step
                                                                                     : k_step;
        misaligned_ = reinterpret_cast<unsigned long long>(first) | static_cast<unsigned long long>(between * size);
        has_neighbors_ = in_line == 1 && other_axes == 1 && k_axes == 1;
        if (!has_neighbors_) misaligned_ |= part;
    }

    /// Where byte `byte` of a line lies in a panel.
    static RICCI_FUNCTION constexpr int place(int line, int byte) {
        if constexpr (has_boxes_of) return byte / box_line * box_bytes + place_in_box(line, byte % box_line);
        else return line * pitch[O] * size + byte;
    }

    /// The same by panel_shifts.cuh.
    template <template <int, class> class Lines> RICCI_FUNCTION Lines<O, Element> shifted() const {
        return Lines<O, Element>(arguments_, first_, steps_);
    }

    /// Starts to copy panel `number`; what does not exist becomes zero.
    RICCI_FUNCTION void load(unsigned char* stage, long long number) const {
        if (misaligned_ % 16 == 0) copy<16>(stage + region[O], number);
        else if (part < 4 && misaligned_ % 4 == 0) copy<4>(stage + region[O], number);
        else if (part == 4 && size == 8 && misaligned_ % 8 == 0) copy<8>(stage + region[O], number); // c64
        else copy<part>(stage + region[O], number);
    }

    /// By all threads, when the panel that load has brought is here for all: moves the numbers of lines that came a
    /// number early. Whether there was something to do, for which all have to wait then.
    RICCI_FUNCTION bool shift_into_place(unsigned char* stage, long long number) const {
        if constexpr (part == 2) {
            if (!comes_by_words(number)) return false;
            const Element* const first = first_of(number);
            const int lane = threadIdx.x % 32, there = own_lines(number);
            RICCI_UNROLL_ONCE
            for (int line = threadIdx.x / 32; line < there; line += threads_per_block / 32) {
                if (!begins_within_word(first + line_offset(line))) continue;
                unsigned* const words = reinterpret_cast<unsigned*>(stage + region[O] + line * pitch[O] * size) + lane;
                RICCI_UNROLL_4
                for (int c = 0; c < line_length / 2; c += 32) {
                    const unsigned made = words[c] >> 16 | words[c + 1] << 16;
                    __syncwarp(); // those before have been read
                    words[c] = made;
                }
            }
            return true;
        }
        return false;
    }

#if RICCI_BULK_COPIES
    /// Bytes of panel 0, all of the sum's steps, if bulk copies may bring it: of long aligned lines, or whole; else
    /// 0.
    RICCI_FUNCTION int bulk_bytes() const {
        constexpr int least_line = 256; // bytes; shorter ones come faster by the threads
        constexpr int lines_of_steps = static_cast<int>(lines[O] == 1 ? k : 1), bytes = line_length * size;
        if (has_lines_along_k || (lines[O] == 2 && k_panel != k) || bytes % 16 != 0 || bytes < least_line ||
            own_ < others || misaligned_ % 16 != 0)
            return 0;
        return lines_of_steps * bytes;
    }

    /// By the threads of one warp: all of panel 0 but its steps beyond the sum, which become zero.
    RICCI_FUNCTION void load_by_bulk(unsigned char* stage, copy_barrier& b) const {
        if (bulk_bytes() == 0) return;
        constexpr int own_lines = static_cast<int>(lines[O] == 1 ? k : 1);
        unsigned char* const to = stage + region[O];
        for (int l = threadIdx.x; l < own_lines; l += 32)
            bulk_load(to + l * pitch[O] * size, first_ + (lines[O] == 1 ? k_offset(arguments_, O - 1, l) : 0),
                      line_length * size, b);
        constexpr int words = pitch[O] * size / 4;
        for (int w = own_lines * words + static_cast<int>(threadIdx.x); w < line_count * words; w += 32)
            reinterpret_cast<unsigned*>(to)[w] = 0;
    }

    /// How many of `panels`, the first ones, a bulk copy each may bring: whole ones, of the last only where its steps
    /// take whole 16 bytes.
    RICCI_FUNCTION int whole_panels(int panels) const {
        if constexpr (has_boxes_of) {
            if (!boxes_are_here(arguments_)) return 0;
            return own_steps(panels - 1) * size % 16 == 0 ? panels : panels - 1;
        }
        if (lines[O] != 2 || line_length * size % 16 != 0 || misaligned_ % 16 != 0) return 0;
        return whole_bytes(panels - 1) % 16 == 0 ? panels : panels - 1;
    }
    RICCI_FUNCTION int whole_bytes(int number) const {
        return has_boxes_of ? k_panel * others * size : own_steps(number) * others * size;
    }

    /// By one thread, such a panel.
    RICCI_FUNCTION void load_whole(unsigned char* stage, int number, copy_barrier& b) const {
        if constexpr (has_boxes_of) return load_boxes(arguments_, stage, number, b);
        bulk_load(stage + region[O], first_of(number), whole_bytes(number), b);
    }

    /// By one warp, the steps of such a panel beyond the sum: they become zero.
    RICCI_FUNCTION void clear_steps_beyond(unsigned char* stage, int number) const {
        if constexpr (has_boxes_of) return; // the copy engine does
        for (int w = whole_bytes(number) / 4 + static_cast<int>(threadIdx.x) % 32; w < line_length * size / 4;
             w += 32)
            reinterpret_cast<unsigned*>(stage + region[O])[w] = 0;
    }
#endif

  private:
    // Of kernels whose arguments have boxes.
    template <class Arguments> static RICCI_FUNCTION bool boxes_are_here(const Arguments& a) {
        return a.boxes_are_here != 0;
    }
#if RICCI_BULK_COPIES
    template <class Arguments>
    RICCI_FUNCTION void load_boxes(const Arguments& a, unsigned char* stage, int number, copy_barrier& b) const {
        const long long first = first_ - static_cast<const Element*>(O == 1 ? a.x : a.y) + // its step is one element
                                static_cast<long long>(number) * k_panel;
        RICCI_UNROLL_4
        for (int c = 0; c < k_panel / of_box; ++c)
            box_load(stage + region[O] + c * box_bytes, a.box[O], first + c * of_box, 0, b);
    }
#endif

    RICCI_FUNCTION long long other_offset(int i) const {
        if constexpr (other_axes > 1)
            if (places_ != nullptr) return places_[i];
        return O == 1 ? m_offset(arguments_, 1, i) : n_offset(arguments_, 1, i);
    }

    /// Steps of panel `number` that exist.
    RICCI_FUNCTION int own_steps(long long number) const {
        const long long left = steps_ - number * k_panel;
        return left < k_panel ? static_cast<int>(left) : k_panel;
    }

    template <int Bytes> RICCI_FUNCTION void copy(unsigned char* to, long long number) const {
        constexpr int of_line = at_a_line(Bytes);
        if constexpr (Bytes < 16 && of_line > 0)
            if (is_complete(number)) {
                if constexpr (Bytes == 2)
                    if (comes_by_words(number)) return copy_words(to, first_of(number), own_lines(number));
                return copy_lines<Bytes, of_line>(to, first_of(number), own_lines(number));
            }
        copy_elements<Bytes>(to, number);
    }

    RICCI_FUNCTION const Element* first_of(long long number) const {
        return first_ + k_offset(arguments_, O - 1, number * k_panel);
    }
    /// Lines of a panel that exist.
    RICCI_FUNCTION int own_lines(long long number) const {
        return has_lines_along_k ? own_ : lines[O] == 1 ? own_steps(number) : 1;
    }

    /// Whether a panel has complete lines of neighbors in memory.
    RICCI_FUNCTION bool is_complete(long long number) const {
        return has_neighbors_ && own_ == others && (lines[O] == 1 || own_steps(number) == k_panel);
    }

    /// How many threads may share a line, each with as many copies of so many bytes, 32 at the most; 0: none may.
    static RICCI_FUNCTION constexpr int at_a_line(int bytes) {
        constexpr int fewest = 8, most_copies = 32;
        const int copies = line_length * size / bytes;
        if (is_whole || threads_per_block % 32 != 0 || line_length * size % bytes != 0) return 0;
        int most = has_boxes_of ? box_line / bytes : 32;
        while (copies % most != 0) most /= 2;
        return most < fewest || copies / most > most_copies ? 0 : most;
    }

    RICCI_FUNCTION long long line_offset(int line) const {
        return has_lines_along_k ? other_offset(line) : k_offset(arguments_, O - 1, line);
    }

    template <int Bytes, int OfLine>
    RICCI_FUNCTION void copy_lines(unsigned char* to, const Element* first, int there) const {
        constexpr int copies = line_length * size / Bytes / OfLine,
                      next = has_boxes_of ? box_bytes : OfLine * Bytes; ///< bytes from one copy to the next in shared
        const int lane = threadIdx.x % OfLine * Bytes;
        RICCI_UNROLL_2
        for (int line = threadIdx.x / OfLine; line < line_count; line += threads_per_block / OfLine) {
            const bool exists = line < there;
            const unsigned char* const from =
                reinterpret_cast<const unsigned char*>(first + (exists ? line_offset(line) : 0)) + lane;
            unsigned char* const into = to + (has_boxes_of ? place_in_box(line, lane) : line * pitch[O] * size + lane);
            if constexpr (Bytes >= 4) {
                RICCI_UNROLL
                for (int c = 0; c < copies; ++c)
                    async_copy<Bytes>(into + c * next, from + c * OfLine * Bytes, exists ? Bytes : 0);
            } else {
                unsigned short now[copies]; // all are asked for before the first is stored
                RICCI_UNROLL
                for (int c = 0; c < copies; ++c)
                    now[c] = *reinterpret_cast<const unsigned short*>(from + c * OfLine * Bytes);
                RICCI_UNROLL
                for (int c = 0; c < copies; ++c)
                    *reinterpret_cast<unsigned short*>(into + c * next) =
                        exists ? now[c] : static_cast<unsigned short>(0);
            }
        }
    }

    /// Whether a panel of 2-byte numbers comes by words, a warp a line, though some lines begin between two words:
    /// these lie one number early until shift_into_place.
    RICCI_FUNCTION bool comes_by_words(long long number) const {
        constexpr bool may =
            part == 2 && at_a_line(2) > 0 && line_length % 64 == 0 && pitch[O] % 2 == 0 && pitch[O] >= line_length + 2;
        return may && misaligned_ % 4 != 0 && is_complete(number);
    }
    static RICCI_FUNCTION bool begins_within_word(const void* at) {
        return reinterpret_cast<unsigned long long>(at) % 4 != 0;
    }

    RICCI_FUNCTION void copy_words(unsigned char* to, const Element* first, int there) const {
        const int lane = threadIdx.x % 32;
        RICCI_UNROLL_2
        for (int line = threadIdx.x / 32; line < line_count; line += threads_per_block / 32) {
            const int bytes = line < there ? 4 : 0;
            const unsigned short* const from =
                reinterpret_cast<const unsigned short*>(first + (bytes > 0 ? line_offset(line) : 0));
            const bool early = begins_within_word(from);
            unsigned* const into = reinterpret_cast<unsigned*>(to + line * pitch[O] * size);
            RICCI_UNROLL
            for (int c = 0; c < line_length; c += 64)
                async_copy<4>(into + c / 2 + lane, from - (early ? 1 : 0) + c + lane * 2, bytes);
            if (early && lane == 0) async_copy<4>(into + line_length / 2, from + line_length - 1, bytes / 2);
        }
    }

    template <int Bytes> RICCI_FUNCTION void copy_elements(unsigned char* to, long long number) const {
        constexpr int chunks = (line_length * size + Bytes - 1) / Bytes;
        const int of_sum = own_steps(number), there = own_lines(number);
        const int own_length = has_lines_along_k ? of_sum
                               : lines[O] == 1 ? own_
                               : lines[O] == 2 ? of_sum * others
                                               : own_ * k_panel;
        const Element* const from = first_of(number);
        RICCI_UNROLL_2
        for (int e = threadIdx.x; e < line_count * chunks; e += threads_per_block) {
            const int line = e / chunks, at = e % chunks * Bytes, element = at / size, inside = at % size;
            int valid = line < there ? own_length * size - at : 0;
            valid = valid < 0 ? 0 : valid > Bytes ? Bytes : valid;
            long long offset = 0;
            if (valid > 0) {
                if constexpr (has_lines_along_k) offset = other_offset(line) + k_offset(arguments_, O - 1, element);
                else if constexpr (lines[O] == 1) offset = k_offset(arguments_, O - 1, line) + other_offset(element);
                else offset = element;
            }
            const unsigned char* const source = reinterpret_cast<const unsigned char*>(from + offset) + inside;
            unsigned char* const target = to + place(line, at);
            if constexpr (Bytes >= 4)
                async_copy<Bytes>(target, valid > 0 ? source : reinterpret_cast<const unsigned char*>(first_), valid);
            else
                *reinterpret_cast<unsigned short*>(target) =
                    valid > 0 ? *reinterpret_cast<const unsigned short*>(source) : static_cast<unsigned short>(0);
        }
    }

    const arguments& arguments_;
    const Element* first_;
    int own_;
    long long steps_;
    const long long* places_;
    bool has_neighbors_; ///< in lines
    unsigned long long misaligned_;
};

/// By all threads, when the panels that load has brought are here for all: so that they can be read.
template <class... Streams>
RICCI_FUNCTION void bring_into_place(unsigned char* stage, long long number, const Streams&... streams) {
    if ((static_cast<int>(streams.shift_into_place(stage, number)) | ...)) __syncthreads();
}
