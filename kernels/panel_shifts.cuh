// panel_shifts: brings panels whose lines start anywhere by boxes, and moves them within shared memory to where
// panel_stream would have put them.
//
// The copy engine moves what starts at multiples of 16 bytes. Of lines that lie alike to one another, every
// residues-th is aligned like the first: a box has those only, from the last multiple of 16 bytes before each on, and
// 16 bytes more than its steps. What is a line's own begins 0 to 15 bytes behind the start. By such boxes of 128
// steps and at least four lines an H100 reads at 0.92 to 0.98 of the rate of boxes whose lines are aligned; by boxes
// that have all lines, each shifted by as much more than the one before it, at 0.83 to 0.93 (2-byte numbers) and 0.92
// to 0.95. The engine wants the first number of a box at a multiple of 16 bytes.
// Constants: panel_stream.cuh's, panel_ring.cuh's, and
//   raw_stages         panels as they come that shared memory holds; 0: none come so
//   raw_first          bytes from the start of shared memory to the first
//   raw_stage_bytes    from one to the next, a multiple of 128
//   raw_region[3]      bytes from the start of such a panel to X [1] and Y [2]
//   raw_box_bytes[3]   from one box to the next: those of the first steps, a residue each, then of the next steps
//   raw_steps          steps of a box that are a panel's
// The arguments' maps of boxes: 1 X's and 2 Y's of the residues that have the most lines, 3 and 4 of those that have
// one less.
#pragma once

#include "panel_stream.cuh"

RICCI_FUNCTION unsigned char* stage_of(unsigned char* memory, int panel) {
    return memory + barrier_bytes + panel % stages * stage_bytes;
}

#if RICCI_BULK_COPIES

struct alignas(16) four_words {
    unsigned word[4];
};

/// O: 1 X, 2 Y; of 2, 4 and 8 bytes, with lines along k.
template <int O, class Element> class shifted_lines {
    static constexpr int size = sizeof(Element), residues = 16 / size,
                         others = O == 1 ? rows_of_block : columns_of_block, steps = raw_steps,
                         boxes = k_panel / steps * residues, lines_of_box = (others + residues - 1) / residues,
                         line_bytes = (steps + residues) * size;
    static_assert(k_panel % steps == 0 && lines_of_box * line_bytes <= raw_box_bytes[O], "boxes lie side by side");

  public:
    /// `first`: the operand's element at the block's first step, a multiple of 16 bytes behind the operand's;
    /// `of_sum`: steps from there to the end of the sum.
    RICCI_FUNCTION shifted_lines(const arguments& a, const Element* first, long long of_sum) : a_(a), of_sum_(of_sum) {
        const Element* const operand = static_cast<const Element*>(O == 1 ? a.x : a.y);
        begin_ = first - operand;
        behind_ = static_cast<int>(reinterpret_cast<unsigned long long>(operand) % 16 / size);
        line_step_ = O == 1 ? m_offset(a, 1, 1) : n_offset(a, 1, 1);
    }

    /// How many of `panels`, the first ones, boxes may bring: they read up to 16 bytes behind a panel.
    RICCI_FUNCTION int panels_of_boxes(int panels) const {
        if (!boxes_are_here(a_)) return 0;
        const long long most = of_sum_ < residues ? 0 : (of_sum_ - residues) / k_panel;
        return most < panels ? static_cast<int>(most) : panels;
    }

    static constexpr int bytes = boxes * lines_of_box * line_bytes; ///< of a panel, as it comes

    /// By a warp: asks for panel `number`.
    RICCI_FUNCTION void ask(unsigned char* raw, int number, copy_barrier& full) const {
        constexpr int with_most = (others - 1) % residues; // the last residue of which there are as many lines
        RICCI_UNROLL
        for (int first = 0; first < boxes; first += 32) {
            const int b = first + static_cast<int>(threadIdx.x) % 32, residue = b % residues;
            if (b < boxes)
                box_load(raw + raw_region[O] + b * raw_box_bytes[O], box_of(a_, residue > with_most ? O + 2 : O),
                         begin_ + static_cast<long long>(number) * k_panel + b / residues * steps, 0,
                         static_cast<int>((behind_ + residue * line_step_) / residues), full);
        }
    }

    static constexpr int parts = residues < 4 ? 4 : residues; ///< of a panel, which warps share

    /// By a warp: of a panel that has come, parts `part`, `part + step`, ... become those of one of panel_stream's. The
    /// lines of a part are shifted alike, so that it only counts up addresses.
    RICCI_FUNCTION void move(const unsigned char* raw, unsigned char* stage, int part, int step) const {
        RICCI_UNROLL_ONCE
        for (; part < parts; part += step)
            move_residue<parts / residues * groups>(raw, stage, part % residues,
                                                    part / residues * groups +
                                                        static_cast<int>(threadIdx.x) % 32 / at_a_line);
    }

  private:
    // Of kernels whose arguments have boxes.
    template <class Arguments> static RICCI_FUNCTION bool boxes_are_here(const Arguments& a) {
        return a.boxes_are_here != 0;
    }
    template <class Arguments> static RICCI_FUNCTION const box_map& box_of(const Arguments& a, int n) {
        return a.box[n];
    }

    // Of a line's 16 bytes, in a panel, a lane has some; a warp has `groups` lines at a time.
    static constexpr int chunks = steps * size / 16, at_a_line = chunks < 32 ? chunks : 32, copies = chunks / at_a_line,
                         groups = 32 / at_a_line, pieces = k_panel / steps;
    static_assert(chunks % at_a_line == 0, "a line's copies are shared evenly");

    /// Every Groups-th of a residue's lines, the first one `first`.
    template <int Groups>
    RICCI_FUNCTION void move_residue(const unsigned char* raw, unsigned char* stage, int residue, int first) const {
        const int shift = (behind_ + residue * static_cast<int>(line_step_ % residues)) % residues * size;
        const unsigned char* const from =
            raw + raw_region[O] + residue * raw_box_bytes[O] + first * line_bytes + lane() * 16;
        const int line = residue + first * residues;
        if (shift < 4) move_lines<Groups, 0>(from, stage, line, shift);
        if (size < 8 && shift / 4 == 1) move_lines<Groups, 1>(from, stage, line, shift % 4);
        if (shift / 4 == 2) move_lines<Groups, 2>(from, stage, line, shift % 4);
        if (size < 8 && shift / 4 == 3) move_lines<Groups, 3>(from, stage, line, shift % 4);
    }

    /// Lines that begin so many words and bytes (0 or 2) behind a multiple of 16.
    template <int Groups, int Words>
    RICCI_FUNCTION void move_lines(const unsigned char* from, unsigned char* stage, int line, int bytes) const {
        constexpr int line_step = Groups * residues, at_once = pieces * copies < 4 ? 4 / (pieces * copies) : 1;
        RICCI_UNROLL_ONCE
        for (; line < others; line += at_once * line_step, from += at_once * Groups * line_bytes) {
            // all are read before the first is stored, behind which the compiler would leave them
            four_words got[at_once][pieces][copies];
            RICCI_UNROLL
            for (int i = 0; i < at_once; ++i)
                RICCI_UNROLL
                for (int p = 0; p < pieces; ++p)
                    RICCI_UNROLL
                    for (int c = 0; c < copies; ++c)
                        if (line + i * line_step < others)
                            got[i][p][c] = read<Words>(from + i * Groups * line_bytes +
                                                           p * residues * raw_box_bytes[O] + c * at_a_line * 16,
                                                       8 * bytes);
            unsigned char* const to = stage + region[O] + panel::place(line, lane() * 16);
            RICCI_UNROLL
            for (int i = 0; i < at_once; ++i) {
                if (line + i * line_step >= others) break;
                unsigned char* const of_line =
                    line_step % 8 == 0 ? to + i * line_step * line_pitch
                                       : stage + region[O] + panel::place(line + i * line_step, lane() * 16);
                RICCI_UNROLL
                for (int p = 0; p < pieces; ++p)
                    RICCI_UNROLL
                    for (int c = 0; c < copies; ++c)
                        *reinterpret_cast<four_words*>(
                            of_line + panel::place(0, (p * copies + c) * at_a_line * 16)) = got[i][p][c];
            }
        }
    }

    template <int Words> static RICCI_FUNCTION four_words read(const unsigned char* from, int bits) {
        const four_words* const at = reinterpret_cast<const four_words*>(from);
        const four_words low = at[0];
        if constexpr (Words == 0 && size >= 4) return low;
        const four_words high = at[1];
        four_words out;
        RICCI_UNROLL
        for (int w = 0; w < 4; ++w) {
            const int l = Words + w, h = l + 1;
            out.word[w] = l < 4 ? low.word[l] : high.word[l - 4];
            if constexpr (size < 4)
                out.word[w] = static_cast<unsigned>(
                    (static_cast<unsigned long long>(h < 4 ? low.word[h] : high.word[h - 4]) << 32 | out.word[w]) >>
                    bits);
        }
        return out;
    }

    static RICCI_FUNCTION int lane() { return static_cast<int>(threadIdx.x) % at_a_line; }

    using panel = panel_stream<O, Element>;
    static constexpr int line_pitch = lines[O] == 4 ? box_line : pitch[O] * size; ///< bytes; of a box's, by eights
    static_assert(line_pitch % 16 == 0, "lines start at multiples of 16 bytes");
    static_assert(lines[O] != 4 || at_a_line * 16 % box_line == 0, "lanes store whole lines of a box");

    const arguments& a_;
    long long begin_, of_sum_; ///< elements from the operand's to the block's first
    int behind_;               ///< elements from a multiple of 16 bytes to the operand
    long long line_step_;
};

/// Panels on their way: through raw stages, to the stages where they are multiplied.
template <class X, class Y> class shifted_ring {
    static constexpr int multiplying = threads_per_block - 32 * copy_warps; ///< threads
    /// Whether copying warps also move panels, so that the others go on multiplying; else these move them.
    static constexpr bool copiers_move = copy_warps > 1;
    static constexpr int movers = copiers_move ? copy_warps : multiplying / 32; ///< warps

    const X& x_;
    const Y& y_;
    unsigned char* memory_;
    int panels_, warp_; ///< warp: among the movers
    copy_barrier *come_, *moved_away_, *here_, *multiplied_;
    int at_ = 0, parity_ = 0; ///< the raw stage

    RICCI_FUNCTION void ask(int p, int stage) const {
        unsigned char* const raw = memory_ + raw_first + stage * raw_stage_bytes;
        arrive_expecting(come_[stage], threadIdx.x % 32 == 0 ? X::bytes + Y::bytes : 0);
        x_.ask(raw, p, come_[stage]), y_.ask(raw, p, come_[stage]);
    }
    RICCI_FUNCTION void advance() {
        if (++at_ == raw_stages) at_ = 0, parity_ ^= 1;
    }

    /// By a mover, when there is room for panel `p`.
    RICCI_FUNCTION void move(int p) const {
        const unsigned char* const raw = memory_ + raw_first + at_ * raw_stage_bytes;
        wait_barrier(come_[at_], parity_);
        unsigned char* const stage = stage_of(memory_, p);
        x_.move(raw, stage, warp_, movers);
        y_.move(raw, stage, (warp_ + movers - X::parts % movers) % movers, movers); // on from where X's end
        arrive_expecting(here_[p % stages], 0);
        arrive_expecting(moved_away_[at_], 0); // it was only read: the copy engine need not be shown anything
    }

  public:
    RICCI_FUNCTION shifted_ring(const X& x, const Y& y, unsigned char* memory, int panels)
        : x_(x), y_(y), memory_(memory), panels_(panels),
          warp_((static_cast<int>(threadIdx.x) - (copiers_move ? multiplying : 0)) / 32),
          come_(reinterpret_cast<copy_barrier*>(memory)), moved_away_(come_ + raw_stages),
          here_(moved_away_ + raw_stages), multiplied_(here_ + stages) {
        static_assert(2 * (raw_stages + stages) * static_cast<int>(sizeof(copy_barrier)) <= barrier_bytes,
                      "the barriers' room");
        static_assert(raw_stages == 0 || stages == 2, "a panel is moved while one is multiplied");
        if (threadIdx.x == 0) {
            for (int s = 0; s < raw_stages; ++s)
                start_barrier(come_[s], 32), start_barrier(moved_away_[s], 32 * movers);
            for (int s = 0; s < stages; ++s)
                start_barrier(here_[s], 32 * movers), start_barrier(multiplied_[s], multiplying);
        }
        __syncthreads();
    }

    static RICCI_FUNCTION bool copies() { return threadIdx.x >= multiplying; }

    /// By the copying warps, of which the first asks for panels.
    RICCI_FUNCTION void bring() {
        if constexpr (!copiers_move) {
            RICCI_UNROLL_ONCE
            for (int p = 0; p < panels_; ++p, advance()) {
                wait_barrier(moved_away_[at_], parity_ ^ 1); // at once the first times
                ask(p, at_);
            }
        } else {
            if (warp_ == 0)
                for (int p = 0; p < raw_stages && p < panels_; ++p) ask(p, p);
            RICCI_UNROLL_ONCE
            for (int p = 0; p < panels_; ++p, advance()) {
                wait_barrier(multiplied_[p % stages], p / stages % 2 ^ 1); // at once the first times
                move(p);
                if (warp_ != 0 || p + raw_stages >= panels_) continue;
                wait_barrier(moved_away_[at_], parity_);
                ask(p + raw_stages, at_);
            }
        }
    }

    /// By the others: calls multiply(stage) for each panel.
    template <class Multiply> RICCI_FUNCTION void multiply(const Multiply& multiply) {
        RICCI_UNROLL_ONCE
        for (int p = 0; p < panels_; ++p, advance()) {
            // Who moves the next but one to this stage has waited for all to have multiplied this one.
            if constexpr (!copiers_move) move(p);
            wait_barrier(here_[p % stages], p / stages % 2);
            multiply(stage_of(memory_, p));
            if constexpr (copiers_move) arrive_expecting(multiplied_[p % stages], 0);
        }
    }
};

/// Calls multiply(stage) for panels [0, panels) of boxes in their order, by all threads but the copying warps'.
template <class X, class Y, class Multiply>
RICCI_FUNCTION void for_each_shifted_panel(const X& x, const Y& y, unsigned char* memory, int panels,
                                           const Multiply& multiply) {
    shifted_ring<X, Y> ring(x, y, memory, panels);
    if (ring.copies()) ring.bring();
    else ring.multiply(multiply);
}

#endif
