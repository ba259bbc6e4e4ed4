// factor_stream_panel: eight columns of a matrix in shared memory, factored by one warp in its registers: lane l has
// the rows of slots l, l + 32, ...
//
// A step's chain: search of the column, its pivot's row from its lane to all, multipliers, the next column. While the
// reduction of the search runs each lane takes the reciprocal of what may be its pivot, to 20 bits: y. Then with h =
// 1 - pivot*y a multiplier is x*y * (1 + h + h*h), and the next column's element x1 - (x*y)*p1 - (h + h*h) * (x*y*p1):
// two products sooner than the multiplier's. The other columns follow while the next search runs.
//
// Registers move on by one column in each step; behind the panel's columns come, as they are done, those of N.
#pragma once

#include "factor_pivot_positions.cuh"
#include "factor_pivot_search.cuh"
#include "factor_shuffles.cuh"
#include "neighbors.cuh"

static_assert(m == n && exchanges && !has_sides && !has_determinant && keeps_factors);
static_assert(!is_complex && sizeof(real) == 8, "f64");

constexpr int warps = threads_per_block / 32;
constexpr int strip = 8, strips = (n + 7) / 8, panels = strips, lane_rows = (n + 31) / 32;
constexpr int slots = 8 * strips;
/// So that the lanes of a product of the tensor cores, 8 rows by 4 columns, lie on different banks.
constexpr int ld = slots + 4;

struct stream_memory {
    element columns[slots * ld - 4];
    /// N of two panels; before it is there, what the panel's columns were.
    element multipliers[2][strip * ld];
    alignas(16) element pivot_rows[2][strip * strip]; ///< of two panels, from each step's column on
    unsigned standing_after[2][lane_rows];            ///< of panels: rows that were no pivots yet
    unsigned char pivot_slot[slots];                  ///< of each step
    unsigned char first_row[slots];                   ///< of a slot, before all exchanges
    unsigned char positions[slots];                   ///< with which steps exchange their rows, as far as found
    int panel_warp;
};

/// Of what `count` steps of panel p left in pivot_rows the part that is U's; by one warp.
RICCI_FUNCTION void place_pivot_rows(stream_memory& memory, int p, int count) {
    RICCI_UNROLL
    for (int e = static_cast<int>(threadIdx.x % 32); e < strip * strip; e += 32) {
        const int c = e / strip, j = e % strip;
        if (c + j < strip && c < count)
            memory.columns[memory.pivot_slot[strip * p + c] + (strip * p + c + j) * ld] =
                memory.pivot_rows[p % 2][e];
    }
}

/// Of lane l: with which position step first + l, of `count` up to Most, exchanges its row. A row was where it lay at
/// first unless an earlier pivot was exchanged with it: then it went where that came from. Positions of the steps
/// before `first` were stored.
template <int Most> RICCI_FUNCTION int position_of_step(const stream_memory& memory, int first, int count) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int q = n;
    if (lane < count) q = position_behind(memory.positions, first, memory.first_row[memory.pivot_slot[first + lane]]);
    RICCI_UNROLL
    for (int s = 0; s < Most - 1; ++s) {
        const int there = __shfl_sync(0xffffffffu, q, s);
        if (lane > s && q == first + s) q = there;
    }
    return q;
}

/// Which of a lane's rows has its smallest key: takes[r]: row r instead of those before it that it was compared with.
struct row_choice {
    bool takes[lane_rows];
    unsigned smallest;
    RICCI_FUNCTION explicit row_choice(const unsigned (&key)[lane_rows]) {
        unsigned best[lane_rows];
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) best[r] = key[r], takes[r] = false;
        RICCI_UNROLL
        for (int apart = 1; apart < lane_rows; apart *= 2)
            RICCI_UNROLL
            for (int r = 0; r + apart < lane_rows; r += 2 * apart) {
                takes[r + apart] = best[r + apart] < best[r];
                best[r] = smaller_of_two(best[r], best[r + apart]);
            }
        smallest = best[0];
    }
    template <class F>
    RICCI_FUNCTION element of(const F& f) const {
        element x[lane_rows];
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) x[r] = f(r);
        RICCI_UNROLL
        for (int apart = 1; apart < lane_rows; apart *= 2)
            RICCI_UNROLL
            for (int r = 0; r + apart < lane_rows; r += 2 * apart) x[r] = takes[r + apart] ? x[r + apart] : x[r];
        return x[0];
    }
};

class panel_warp {
  public:
    RICCI_FUNCTION explicit panel_warp(stream_memory& memory)
        : memory_(memory), lane_(static_cast<int>(threadIdx.x % 32)), nothing_(zero_of_lane()) {
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r)
            standing_[r] = static_cast<unsigned>(lane_ + 32 * r) |
                           (32 * (r + 1) <= n || lane_ + 32 * r < n ? is_candidate : 0);
    }
    RICCI_FUNCTION int info() const { return info_; }

    RICCI_FUNCTION void factor(int p) {
        const int steps = smaller_of(strip, n - strip * p);
        element* const own = memory_.columns + strip * p * ld + lane_;
        element* const n_of = memory_.multipliers[p % 2] + lane_;
        unsigned standing_before[lane_rows];
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            standing_before[r] = standing_[r];
            to_[r] = (is_standing(r) ? own : n_of) + 32 * r; // where nothing is lost
        }
        nearest_ = ~0u, most_extreme_ = 0;
        take(n_of);
        search_first();
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c) {
            if (n % strip == 0 || c < steps) doubt();
            step(p, c, c + 1 < strip);
        }
        if (__any_sync(0xffffffffu, nearest_ < row_bits || most_extreme_ >= plain_sizes)) {
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) standing_[r] = standing_before[r];
            take(n_of);
            RICCI_UNROLL_ONCE
            for (int c = 0; c < steps; ++c) {
                search_first();
                const element pivot = decide(strip * p + c);
                step(p, c, false);
                __syncwarp();
                if (lane_ == 0) memory_.pivot_rows[p % 2][c * strip] = pivot;
            }
        }
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c)
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r)
                if (has_slot(r)) n_of[32 * r + c * ld] = x_[r][c];
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            const unsigned standing = __ballot_sync(0xffffffffu, is_standing(r));
            if (lane_ == 0) memory_.standing_after[p % 2][r] = standing;
        }
        if (p + 1 == panels) {
            __syncwarp();
            place_pivot_rows(memory_, p, steps);
        }
    }

  private:
    RICCI_FUNCTION bool has_slot(int r) const { return 32 * (r + 1) <= slots || lane_ + 32 * r < slots; }

    RICCI_FUNCTION bool is_standing(int r) const { return (standing_[r] & is_candidate) != 0; }

    /// From the columns' copy: others are at work on earlier pivots' rows in the columns themselves.
    RICCI_FUNCTION void take(const element* from) {
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c)
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) x_[r][c] = has_slot(r) ? from[32 * r + c * ld] : zero();
    }
    RICCI_FUNCTION void search_first() {
        element column[lane_rows];
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) column[r] = x_[r][0];
        search(column, [] {});
    }

    /// Step c of panel p, whose pivot was found. Then the search for the next. What becomes of rows that are no
    /// candidates is not used: a pivot's is that of its step, in pivot_rows.
    RICCI_FUNCTION void step(int p, int c, bool has_next) {
        element* const pivot_row = memory_.pivot_rows[p % 2] + c * strip;
        element of_pivot[strip];
        const auto tell = [&](int j) {
            neighbors<element, 2> pair;
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r)
                if (key_[r] == smallest_) {
                    pair.e[0] = x_[r][j], pair.e[1] = x_[r][j + 1];
                    *reinterpret_cast<neighbors<element, 2>*>(pivot_row + j) = pair;
                }
        };
        const auto hear = [&](int j) {
            const auto pair = *reinterpret_cast<const neighbors<element, 2>*>(pivot_row + j);
            of_pivot[j] = pair.e[0], of_pivot[j + 1] = pair.e[1];
        };
        tell(2); // what the search after the next one waits for
        __syncwarp();
        hear(2);
        const element h = one() - pivot_ * of_upper_bits(rough_), t = h + h * h;
        element l[lane_rows], next[lane_rows];
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            const element rough = multiplicand_[r] * of_upper_bits(rough_), part = rough * second_;
            next[r] = x_[r][1];
            subtract_product(next[r], rough, second_);
            subtract_product(next[r], t, part);
            l[r] = rough + rough * t;
            if (key_[r] == smallest_) standing_[r] &= ~is_candidate;
        }
        const unsigned row = ~smallest_ & row_bits;
        const element pivot = pivot_, second = second_;
        const auto update_others = [&] {
            __syncwarp(); // a search first
            tell(4), tell(6);
            if (lane_ == 0) {
                pivot_row[0] = pivot, pivot_row[1] = second;
                memory_.pivot_slot[strip * p + c] = static_cast<unsigned char>(row);
            }
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r)
                if (has_slot(r)) to_[r][c * ld] = l[r];
            __syncwarp();
            hear(4), hear(6);
            RICCI_UNROLL
            for (int j = 2; j < strip; ++j)
                RICCI_UNROLL
                for (int r = 0; r < lane_rows; ++r) {
                    subtract_product(x_[r][j], l[r], of_pivot[j]);
                    x_[r][j - 1] = x_[r][j];
                }
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) x_[r][0] = next[r], x_[r][strip - 1] = l[r];
        };
        if (has_next)
            search(next, update_others);
        else
            update_others();
    }

    /// The largest of a column; behind(): what can be done while its key is found, after which x_ is up to date.
    template <class Behind>
    RICCI_FUNCTION void search(const element (&column)[lane_rows], const Behind& behind) {
        unsigned key[lane_rows];
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) key[r] = ~search_key(column[r], standing_[r]);
        const row_choice best(key);
        const unsigned smallest = smallest_of_warp(best.smallest);
        const element top = best.of([&](int r) { return column[r]; }), rough = rough_reciprocal(top);
        const int owner = static_cast<int>((~smallest & 31u) | nothing_);
        rough_ = __shfl_sync(0xffffffffu, upper_bits(rough), owner);
        pivot_ = shuffle(top, owner);
        behind();
        second_ = shuffle(best.of([&](int r) { return x_[r][1]; }), owner);
        smallest_ = smallest;
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) key_[r] = key[r], multiplicand_[r] = x_[r][0];
    }

    /// Notes whether the search may have found another row than the pivot's, or one whose reciprocal is no plain one.
    RICCI_FUNCTION void doubt() {
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            const unsigned above = key_[r] + ~smallest_; // less than row_bits where it may have the same bits
            nearest_ = above < nearest_ ? above : nearest_;
        }
        const unsigned size = ~smallest_ - (is_candidate + least_plain_size);
        most_extreme_ = size > most_extreme_ ? size : most_extreme_;
    }
    /// Decides between numbers with the same key, and scales the column where its pivot, which it returns, has no
    /// plain reciprocal. Step k.
    RICCI_FUNCTION element decide(int k) {
        unsigned key[lane_rows], largest = ~smallest_;
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) key[r] = ~key_[r];
        if (__any_sync(0xffffffffu, has_rival(key, largest))) decide_rivals(k, key, largest);
        const element pivot = pivot_;
        if (!is_extreme(largest & ~(is_candidate | row_bits))) return pivot;
        if (is_zero(pivot)) {
            pivot_ = one(), rough_ = upper_bits(pivot_);
            if (info_ == 0) info_ = k + 1;
            return pivot;
        }
        const bool is_small = largest < (is_candidate | size_of_two);
        const real scale = is_small ? pivot_inverse::scale : 1 / pivot_inverse::scale;
        pivot_ = scaled(pivot_, scale), rough_ = upper_bits(rough_reciprocal(pivot_));
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) multiplicand_[r] = scaled(multiplicand_[r], scale);
        return pivot;
    }
    RICCI_FUNCTION void decide_rivals(int k, const unsigned (&key)[lane_rows], unsigned& largest) {
        __syncwarp(); // slots of pivots are there
        // positions of the panel before are found meanwhile, and not waited for
        const int first = larger_of(k / strip - 1, 0) * strip;
        const int of_step = position_of_step<2 * strip>(memory_, first, k - first);
        int position[lane_rows];
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r)
            position[r] =
                is_standing(r) ? position_behind(memory_.positions, first, memory_.first_row[lane_ + 32 * r]) : n;
        RICCI_UNROLL_ONCE
        for (int s = first; s < k; ++s) {
            const int there = __shfl_sync(0xffffffffu, of_step, s - first);
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) position[r] = position[r] == s ? there : position[r];
        }
        largest = decide_pivot<32>(
            key, largest, true, [&](int r) { return x_[r][0]; },
            [&](int r) { return position[r]; });
        smallest_ = ~largest;
        const int owner = static_cast<int>(largest & 31u);
        element top = x_[0][0], second = x_[0][1];
        RICCI_UNROLL
        for (int r = 1; r < lane_rows; ++r)
            if (key[r] == largest) top = x_[r][0], second = x_[r][1];
        pivot_ = shuffle(top, owner), second_ = shuffle(second, owner);
        rough_ = upper_bits(rough_reciprocal(pivot_));
    }

    stream_memory& memory_;
    int lane_, info_ = 0;
    unsigned nothing_; ///< so that what comes by shuffles is not moved to uniform registers and back
    element x_[lane_rows][strip];
    element* to_[lane_rows];         ///< of a panel's first multipliers
    unsigned standing_[lane_rows];   ///< those that are no candidates keep their numbers: no two keys are equal
    unsigned nearest_, most_extreme_; ///< of a panel's searches
    // of the step that comes:
    unsigned key_[lane_rows], smallest_; ///< search keys' complements
    element pivot_, second_;             ///< and what stands behind it
    unsigned rough_;                     ///< about 1/pivot, its upper half
    element multiplicand_[lane_rows];
};
