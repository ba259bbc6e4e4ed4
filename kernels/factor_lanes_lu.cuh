// factor_lanes_lu: P A = L U, right-looking, by a grid of lanes: lane l has rows l % row_groups, + row_groups, ...
// and of them columns l / row_groups, + column_groups, ... in registers; with one column group, whole rows.
//
// While the search (factor_pivot_search.cuh) runs each lane takes the reciprocal of what may be its pivot. Then a
// step waits for no division: the pivot's lane publishes its row, everyone gets the reciprocal by a shuffle, and
// updates, the next column first, so that its search runs behind the other columns'. Several column groups publish
// the column too.
//
// A step notes its pivot's row; to which position that was exchanged follows from the rows before at the end
// (lane_grid::find_positions). Only where equal numbers are to be chosen from are positions wanted sooner.
//
// What bounds it (H100, f64, n = 32, 1788 cycles a matrix): what shared memory returns to a warp's lanes, 128 bytes a
// cycle, so rows are read only as far as registers are left (`panel`), and warps: registers want a cap. Column groups
// read less but have more instructions a step: they pay from n = 33 on, where a lane cannot have whole rows.
#pragma once

#include "factor_lanes_group.cuh"
#include "factor_pivot_positions.cuh"
#include "factor_pivot_search.cuh"
#include "ptx_roots.cuh"

using grid_elements = element[grid_lines][grid_columns];

/// Whether lanes take the reciprocals of what may become the pivot while they look for it.
constexpr bool is_quick = exchanges && !is_complex;

/// 1/pivot for a column, whose elements it scales where that alone overflows or underflows: by zero nothing is
/// divided.
RICCI_FUNCTION element inverse_for(element pivot, element (&column)[grid_lines]) {
    const element one = from_real<element>(1, 0);
    const unsigned size = upper_of_size(pivot);
    if (is_extreme(size)) {
        as_if_new(0); // a branch
        if (is_zero(pivot)) return one;
        const real scale = size < size_of_two ? pivot_inverse::scale : 1 / pivot_inverse::scale;
        pivot = scaled(pivot, scale);
        RICCI_UNROLL
        for (int r = 0; r < grid_lines; ++r) column[r] = scaled(column[r], scale);
    }
    return one / pivot;
}
template <class T>
RICCI_FUNCTION T as_element(real x) {
    return from_real<T>(x, 0);
}

struct lane_grid {
    const lane_group& group;
    int row_group, column_group;
    grid_elements x;
    unsigned standing[grid_lines];
    element *column, *row_part; ///< what is published in a step
    int turn = grid_line;       ///< and how far from it that of the next
    int *position_of, *row_at, *pivot_rows; ///< of the warp, which then reads none that another may just write

    RICCI_FUNCTION explicit lane_grid(const lane_group& g)
        : group(g), row_group(g.lane % row_groups), column_group(g.lane / row_groups), column(g.scratch),
          row_part(g.scratch + column_pitch + column_group * row_pitch) {
        RICCI_UNROLL
        for (int r = 0; r < grid_lines; ++r) {
            const bool is_row = row_groups * (r + 1) <= m || row(r) < m;
            standing[r] = is_row ? is_candidate | static_cast<unsigned>(row(r)) : 0;
            RICCI_UNROLL
            for (int c = 0; c < grid_columns; ++c)
                x[r][c] = as_meant(*(is_row && has_column(c) ? place(row(r), c) : group.matrix));
        }
        constexpr int kept = round_up(m, 2);
        position_of = notes() + 8 + group.lane / 32 * 2 * kept, row_at = position_of + kept;
        pivot_rows = group.lane < 32 ? group.positions : row_at + kept;
        if constexpr (exchanges) {
            RICCI_UNROLL
            for (int i = 0; i < m; i += lanes_of_warp)
                if (const int at = i + group.lane % 32; at < m) position_of[at] = row_at[at] = at;
            if (group.lane % 32 == 0) notes()[2 + group.lane / 32] = 0;
            __syncwarp();
        }
    }

    RICCI_FUNCTION int* notes() const { return reinterpret_cast<int*>(group.scratch + 2 * grid_line); }
    RICCI_FUNCTION int row(int r) const { return row_group + row_groups * r; }
    RICCI_FUNCTION bool has_column(int c) const {
        return column_groups * (c + 1) <= n || column_group + column_groups * c < n;
    }
    RICCI_FUNCTION element* place(int i, int c) const {
        return group.matrix + i * slab::along + (column_group + column_groups * c) * slab::across;
    }
    RICCI_FUNCTION bool has_row(int r) const { return group.exists && (row_groups * (r + 1) <= m || row(r) < m); }
    RICCI_FUNCTION void take_turns() { column += turn, row_part += turn, turn = -turn; }

    using keys = unsigned[grid_lines];
    RICCI_FUNCTION unsigned key_of(int r, element e) const {
        return search_key(e, standing[r]);
    }
    RICCI_FUNCTION static unsigned largest_of(const keys& key, bool counts = true) {
        return largest_of_lanes<lanes_of_warp>(counts ? largest_of_rows(key) : 0);
    }
    /// Of the lane's row with this key.
    RICCI_FUNCTION real quick_inverse(const keys& key, unsigned largest) const {
        if constexpr (is_quick) {
            real pivot = real_of(x[0][0]);
            RICCI_UNROLL
            for (int r = 1; r < grid_lines; ++r) pivot = key[r] == largest ? real_of(x[r][0]) : pivot;
            return near_reciprocal(pivot);
        } else {
            return 0;
        }
    }
    RICCI_FUNCTION void find_positions() const {
        if (in_one_warp || group.lane < 32) ::find_positions<lanes_of_warp>(group.positions, group.lane, pivots);
        if constexpr (!in_one_warp) __syncthreads();
    }
    /// Of a row that was no pivot.
    RICCI_FUNCTION int position_in_the_end(int row) const {
        return m > pivots ? position_behind(group.positions, pivots, row) : row;
    }
    RICCI_FUNCTION real* told_inverse(int k) const { return reinterpret_cast<real*>(notes() + 4) + k % 2; }

    /// The key of step k's pivot.
    RICCI_FUNCTION unsigned decide(const keys& key, unsigned largest, bool counts, int k) const {
        __syncwarp(); // rows of pivots are there
        if (group.lane % 32 == 0) {
            int& settled = notes()[2 + group.lane / 32];
            RICCI_UNROLL_ONCE
            for (int s = settled; s < k; ++s) {
                const int position = position_of[pivot_rows[s]], other = row_at[s];
                position_of[other] = position, row_at[position] = other;
            }
            settled = k;
        }
        __syncwarp();
        return decide_pivot<lanes_of_warp>(
            key, largest, counts, [&](int r) { return x[r][0]; }, [&](int r) { return position_of[row(r)]; });
    }
};

/// Steps of the columns that lanes have from their number First on.
template <int First>
RICCI_FUNCTION void grid_steps(lane_grid& grid, lane_grid::keys& key, unsigned largest, real quick) {
    constexpr int first = First * column_groups, rounds = larger_of(1, panel / column_groups),
                  end = smaller_of(pivots, first + rounds * column_groups), width = grid_columns - First;
    if constexpr (first < pivots) {
        const lane_group& group = grid.group;
        grid_elements& x = grid.x;
        RICCI_UNROLL_ONCE
        for (int k = first; k < end; ++k) {
            const int owner = k % column_groups;
            const bool is_owner = grid.column_group == owner;
            if (column_groups > 1 && is_owner) {
                RICCI_UNROLL
                for (int r = 0; r < grid_lines; ++r) grid.column[grid.row(r)] = x[r][0];
            }
            if constexpr (exchanges) {
                if (__any_sync(0xffffffffu, is_owner && group.exists && has_rival(key, largest))) {
                    largest = grid.decide(key, largest, is_owner, k);
                    if constexpr (grid_lines > 1) quick = grid.quick_inverse(key, largest);
                }
                if constexpr (!in_one_warp)
                    if (is_owner && grid.row_group == static_cast<int>(largest & row_bits) % row_groups) {
                        grid.notes()[k % 2] = static_cast<int>(largest);
                        *grid.told_inverse(k) = quick;
                    }
            }
            if constexpr (column_groups > 1) group_barrier();
            if constexpr (!exchanges)
                largest = is_candidate | k;
            else if constexpr (!in_one_warp)
                largest = static_cast<unsigned>(grid.notes()[k % 2]);
            const int row = static_cast<int>(largest & row_bits), line = row / row_groups;
            element l[grid_lines];
            if (grid.row_group == row % row_groups) {
                // Chosen first: of a path for each line a warp takes all, one after another (H200, f64, n = 9 to 21:
                // 3 to 11 % less time).
                element of_pivot[width];
                RICCI_UNROLL
                for (int j = 0; j < width; ++j) {
                    of_pivot[j] = x[0][j];
                    RICCI_UNROLL
                    for (int r = 1; r < grid_lines; ++r) of_pivot[j] = line == r ? x[r][j] : of_pivot[j];
                }
                write_run<width>(grid.row_part, of_pivot);
            }
            RICCI_UNROLL
            for (int r = 0; r < grid_lines; ++r) l[r] = column_groups > 1 ? grid.column[grid.row(r)] : x[r][0];
            element inverse;
            if constexpr (is_quick) {
                if constexpr (in_one_warp)
                    inverse = as_element<element>(
                        __shfl_sync(0xffffffffu, quick, row % row_groups + owner * row_groups, lanes));
                else
                    inverse = as_element<element>(*grid.told_inverse(k));
                __syncwarp();
                if (is_extreme(largest & ~(is_candidate | row_bits)))
                    inverse = inverse_for(column_groups > 1 ? grid.column[row] : grid.row_part[0], l);
            } else {
                if constexpr (column_groups > 1) {
                    inverse = inverse_for(grid.column[row], l);
                    __syncwarp();
                } else {
                    __syncwarp();
                    inverse = inverse_for(grid.row_part[0], l);
                }
            }
            const unsigned pivots_standing = largest & (is_candidate | row_bits);
            RICCI_UNROLL
            for (int r = 0; r < grid_lines; ++r) {
                if (grid.standing[r] == pivots_standing) grid.standing[r] = static_cast<unsigned>(k);
                const bool is_below = grid.standing[r] >= is_candidate;
                l[r] = l[r] * inverse;
                if (is_owner && is_below) x[r][0] = l[r];
                if (!is_below) l[r] = zero();
            }
            const auto search = [&](int of) {
                if constexpr (exchanges) {
                    RICCI_UNROLL
                    for (int r = 0; r < grid_lines; ++r) key[r] = grid.key_of(r, x[r][0]);
                    largest = lane_grid::largest_of(key, column_groups == 1 || grid.column_group == of);
                    quick = grid.quick_inverse(key, largest_of_rows(key));
                }
            };
            if (column_groups == 1 || owner == column_groups - 1) { // registers move on by one column
                const int c = k / column_groups;
                element done[grid_lines];
                RICCI_UNROLL
                for (int r = 0; r < grid_lines; ++r) done[r] = x[r][0];
                if constexpr (width > 1)
                    read_run<1, width>(grid.row_part, [&](int j, element of_row) {
                        RICCI_UNROLL
                        for (int r = 0; r < grid_lines; ++r) x[r][j - 1] = without_product(x[r][j], l[r], of_row);
                        if (j == 1) search(0);
                    });
                RICCI_UNROLL
                for (int r = 0; r < grid_lines; ++r)
                    if (grid.has_row(r)) *grid.place(grid.row(r), c) = as_meant(done[r]);
            } else {
                const bool is_behind = grid.column_group > owner;
                read_run<0, width>(grid.row_part, [&](int j, element of_row) {
                    RICCI_UNROLL
                    for (int r = 0; r < grid_lines; ++r)
                        if (j > 0 || is_behind) x[r][j] = without_product(x[r][j], l[r], of_row);
                    if (j == 0) search(owner + 1);
                });
            }
            if constexpr (exchanges)
                if (group.lane % 32 == 0) grid.pivot_rows[k] = row;
            grid.take_turns();
        }
        grid_steps<First + rounds>(grid, key, largest, quick);
    }
}

/// Leaves the factors in the slab at their rows' first places.
RICCI_FUNCTION void lu_by_grid(const lane_group& group, row_places& places) {
    lane_grid grid(group);
    lane_grid::keys key;
    unsigned largest = 0;
    real quick = 0;
    if constexpr (exchanges) {
        RICCI_UNROLL
        for (int r = 0; r < grid_lines; ++r) key[r] = grid.key_of(r, grid.x[r][0]);
        largest = lane_grid::largest_of(key, grid.column_group == 0);
        quick = grid.quick_inverse(key, largest_of_rows(key));
    }
    grid_steps<0>(grid, key, largest, quick);
    constexpr int done = pivots / column_groups;
    RICCI_UNROLL
    for (int r = 0; r < grid_lines; ++r)
        if (grid.has_row(r)) {
            RICCI_UNROLL
            for (int c = done; c < grid_columns; ++c)
                if (grid.has_column(c)) *grid.place(grid.row(r), c) = as_meant(grid.x[r][c - done]);
        }
    group_barrier();
    if constexpr (exchanges) {
        grid.find_positions();
        int position[grid_lines];
        RICCI_UNROLL
        for (int r = 0; r < grid_lines; ++r)
            position[r] = grid.standing[r] < is_candidate                ? static_cast<int>(grid.standing[r])
                          : row_groups * (r + 1) <= m || grid.row(r) < m ? grid.position_in_the_end(grid.row(r))
                                                                         : 0;
        if constexpr (column_groups == 1) {
            RICCI_UNROLL
            for (int r = 0; r < lines; ++r)
                if (places.position[r] >= 0) places.position[r] = position[r];
        } else { // what comes after asks by rows of lanes
            int* const went = reinterpret_cast<int*>(group.scratch);
            RICCI_UNROLL
            for (int r = 0; r < grid_lines; ++r)
                if (grid.column_group == 0 && (row_groups * (r + 1) <= m || grid.row(r) < m))
                    went[grid.row(r)] = position[r];
            group_barrier();
            RICCI_UNROLL
            for (int r = 0; r < lines; ++r)
                if (places.position[r] >= 0) places.position[r] = went[group.row(r)];
            group_barrier();
        }
    }
    // the first pivot that is zero, and the exchanges' parity
    unsigned first = 0;
    int exchanged = 0;
    RICCI_UNROLL
    for (int r = 0; r < lines; ++r)
        if (const int k = places.position[r]; k >= 0 && k < pivots) {
            const unsigned before_end = static_cast<unsigned>(pivots - k);
            if (before_end > first && is_zero(*group.place(r, k))) first = before_end;
            if constexpr (has_determinant && exchanges) exchanged ^= group.positions[k] != k;
        }
    first = largest_of_lanes<lanes_of_warp>(first);
    if constexpr (has_determinant && exchanges) {
        RICCI_UNROLL
        for (int apart = lanes_of_warp / 2; apart > 0; apart /= 2)
            exchanged ^= __shfl_xor_sync(0xffffffffu, exchanged, apart);
    }
    if constexpr (!in_one_warp) {
        unsigned* const of_warps = reinterpret_cast<unsigned*>(group.scratch);
        if (group.lane % 32 == 0) of_warps[group.lane / 32] = first | static_cast<unsigned>(exchanged) << 16;
        __syncthreads();
        const unsigned a = of_warps[0], b = of_warps[1];
        first = larger_of(a & 0xffffu, b & 0xffffu), exchanged = (a ^ b) >> 16;
        __syncthreads();
    }
    places.info = first == 0 ? 0 : pivots - static_cast<int>(first) + 1;
    places.is_odd = exchanged != 0;
}

/// Brings rows in the slab to their positions.
RICCI_FUNCTION void move_rows(const lane_group& group, const row_places& places) {
    constexpr int at_once = larger_of(1, smaller_of(n, 128 / lines / static_cast<int>(sizeof(element))));
    RICCI_UNROLL_ONCE
    for (int first = 0; first < n; first += at_once) {
        element x[lines][at_once];
        group.each<at_once>([&](int r, int j) {
            if (n % at_once == 0 || first + j < n) x[r][j] = *group.place(r, first + j);
        });
        group_barrier();
        group.each<at_once>([&](int r, int j) {
            if (n % at_once == 0 || first + j < n)
                group.matrix[places.position[r] * slab::along + (first + j) * slab::across] = x[r][j];
        });
    }
}
