// line_share: how the threads of a block share the lines of several matrices of one shape: each has one place in a
// line, of every so many lines of every so many matrices. What it would have to divide for each element, which takes
// more instructions than moving it, it divides once.
#pragma once

#include "scalar.hpp"

/// Lines of Across places each.
template <int Lines, int Across> class line_share {
    static constexpr int across = Across < threads_per_block ? Across : threads_per_block,
                         fit = threads_per_block / across, at_once = fit < Lines ? fit : Lines,
                         matrices_at_once = fit / at_once;
    static constexpr int own = Lines / at_once; ///< lines that each thread has; some one more
    static constexpr bool is_even = Lines % at_once == 0;

    int place_, line_, matrix_; ///< this thread's first

    /// Count lines, of which all but the last exist, and that one too if AllExist.
    template <int Count, bool AllExist, class Read, class Store>
    static RICCI_FUNCTION void move(int p, int first, int place, const Read& read, const Store& store) {
        decltype(read(p, first, place)) got[Count];
        RICCI_UNROLL
        for (int i = 0; i < Count; ++i) {
            const int l = first + i * at_once;
            if (AllExist || i + 1 < Count || l < Lines) got[i] = read(p, l, place);
        }
        RICCI_UNROLL
        for (int i = 0; i < Count; ++i) {
            const int l = first + i * at_once;
            if (AllExist || i + 1 < Count || l < Lines) store(p, l, place, got[i]);
        }
    }

    /// f(matrix, place) for all matrices and places that are this thread's, of `count` matrices.
    template <class F> RICCI_FUNCTION void each_matrix(int count, const F& f) const {
        if (threads_per_block % (across * at_once) != 0 && matrix_ >= matrices_at_once) return;
        for (int at = place_; at < Across; at += across)
            RICCI_UNROLL_ONCE
            for (int p = matrix_; p < count; p += matrices_at_once) f(p, at);
    }

  public:
    RICCI_FUNCTION line_share() {
        const int group = threadIdx.x / across;
        place_ = threadIdx.x % across, line_ = group % at_once, matrix_ = group / at_once;
    }

    /// move(matrix, line, place) for all that are this thread's, of `count` matrices.
    template <class Move> RICCI_FUNCTION void each(int count, const Move& move) const {
        each_matrix(count, [&](int p, int place) {
            RICCI_UNROLL_4
            for (int l = line_; l < Lines; l += at_once) move(p, l, place);
        });
    }

    /// store(matrix, line, place, read(matrix, line, place)) for all. Four are read before the first is stored,
    /// behind which the compiler would leave them.
    template <class Read, class Store>
    RICCI_FUNCTION void each(int count, const Read& read, const Store& store) const {
        each_matrix(count, [&](int p, int place) {
            int l = line_;
            RICCI_UNROLL_ONCE
            for (int done = 0; done + 4 <= own; done += 4, l += 4 * at_once) move<4, true>(p, l, place, read, store);
            constexpr int rest = own % 4 + (is_even ? 0 : 1);
            if constexpr (rest > 0) move<rest, is_even>(p, l, place, read, store);
        });
    }
};
