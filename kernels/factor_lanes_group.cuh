// factor_lanes_group: the lanes that share a matrix, their shared memory, and what they know of their rows.
#pragma once

#include "factor_lanes_results.cuh"
#include "neighbors.cuh"

constexpr int lanes = lanes_of_matrix;
constexpr bool in_one_warp = lanes <= 32;
constexpr int lanes_of_warp = lanes < 32 ? lanes : 32; ///< that share a matrix
static_assert(lanes == 1 || (lanes * lines_of_lane >= m && (lanes & (lanes - 1)) == 0 && lanes <= 64));

/// LU's lanes are a grid (factor_lanes_lu.cuh) of as few row groups as have all rows, and as many column groups as
/// that leaves; Cholesky's have whole rows.
constexpr bool in_grid = !is_cholesky && lanes > 1;
RICCI_FUNCTION constexpr int row_groups_for(int rows_of_lane) {
    int groups = 1;
    while (groups * rows_of_lane < m) groups *= 2;
    return groups;
}
constexpr int row_groups = in_grid ? row_groups_for(lines_of_lane) : lanes, column_groups = lanes / row_groups;
constexpr int grid_lines = lines_of_lane, grid_columns = (n + column_groups - 1) / column_groups;
static_assert(!in_grid || row_groups <= 32, "each warp has all rows");
/// Rows of a lane that has whole ones.
constexpr int lines = in_grid ? (m + lanes - 1) / lanes : lines_of_lane;

/// Groups of a slab so that what the lanes of neighboring matrices read at once, run_bytes of each, lies on different
/// banks: matrices of n a multiple of 4 begin at multiples of 128 bytes otherwise.
constexpr int run_bytes = row_groups * static_cast<int>(sizeof(element));
RICCI_FUNCTION constexpr int groups_of_slab() {
    constexpr int bytes = m * n * static_cast<int>(sizeof(element)), apart = (bytes | 128) & -(bytes | 128);
    if (!in_slabs || matrix_step[matrix_role][0] != 1 || run_bytes >= apart) return 1;
    return smaller_of(apart / run_bytes, power_of_two_within(matrices_of_block));
}
using slab = matrix_slab<matrix_role, m, n, m, groups_of_slab(), larger_of(16, run_bytes)>;

/// Matrices of an odd number of elements begin less than a run further on the banks each: lanes of one access have
/// every so-manieth, where there are enough (H100, f64, n = 9: 72 % of the triad instead of 63).
constexpr int in_line = larger_of(1, 128 / run_bytes);
RICCI_FUNCTION constexpr int spread_of_matrices() {
    constexpr int bytes = m * n * static_cast<int>(sizeof(element)), apart = bytes & -bytes;
    constexpr int spread = in_slabs && apart < run_bytes && groups_of_slab() == 1 ? run_bytes / apart : 1;
    return matrices_of_block % (in_line * spread) == 0 ? spread : 1;
}
/// The matrix of lanes number t.
RICCI_FUNCTION int matrix_of_lanes(int t) {
    constexpr int spread = spread_of_matrices(), turn = in_line * spread;
    if constexpr (spread == 1) return slab::matrix_of_thread(t);
    return t / turn * turn + t % in_line * spread + t / in_line % spread;
}

/// Elements that one access of shared memory reads.
constexpr int in_access = larger_of(1, 16 / static_cast<int>(sizeof(element)));
/// Right-hand sides at a time: their registers are a line's 16 or fewer.
constexpr int sides_at_once = static_cast<int>(
    right_sides == argument || right_sides > larger_of(1, 128 / lines / static_cast<int>(sizeof(element)))
        ? larger_of(1, 128 / lines / static_cast<int>(sizeof(element)))
        : right_sides);
/// Elements of one published line, an odd number of 16 bytes so that several groups' lie on different banks.
constexpr int line_pitch = ((larger_of(n + panel, sides_at_once) + in_access - 1) / in_access | 1) * in_access;
/// The lines, and behind them what two warps tell one another; or what makes it an odd number of 16 bytes again.
constexpr int scratch_by_rows = 2 * line_pitch + (in_one_warp ? 1 : 4) * in_access;

/// Of a grid: elements of a published column, and from one column group's part of a published row to the next, an odd
/// number of 16 bytes.
constexpr int column_pitch =
                  column_groups == 1 ? 0 : round_up(row_groups * grid_lines, in_access),
              row_pitch = ((grid_columns + in_access - 1) / in_access | 1) * in_access,
              grid_line = column_pitch + column_groups * row_pitch;
/// What two warps tell one another, and for each warp where rows are and which are there; for the second of two
/// also which the pivots' are.
constexpr int grid_notes = 8 + (in_one_warp ? 2 : 5) * round_up(m, 2);
/// Both lines of two steps, and the notes; matrices of a warp lie as far from one another as column groups' parts.
RICCI_FUNCTION constexpr int scratch_of_grid() {
    const int size = static_cast<int>(sizeof(element));
    int units = (2 * grid_line * size + 4 * grid_notes + 15) / 16;
    while (units % 8 != column_groups % 8) ++units;
    return units * 16 / size;
}
constexpr int scratch_elements =
    in_grid ? larger_of(scratch_of_grid(), has_sides ? scratch_by_rows : 0) : scratch_by_rows;

/// By all lanes of all groups of the warp, or the block where a group is more than a warp.
RICCI_FUNCTION void group_barrier() {
    if constexpr (in_one_warp)
        __syncwarp();
    else
        __syncthreads();
}

struct lane_group {
    int lane;
    bool exists;     ///< its matrix; else it goes along with whatever lies there, and stores nothing
    element* matrix; ///< in the slab
    int* positions;  ///< of pivots
    element* scratch;

    RICCI_FUNCTION int row(int r) const { return lane + lanes * r; }
    RICCI_FUNCTION element* place(int r, int j) const { return matrix + row(r) * slab::along + j * slab::across; }
    RICCI_FUNCTION bool has_row(int r) const { return exists && (lanes * (r + 1) <= m || row(r) < m); }
    RICCI_FUNCTION element* line(int k) const { return scratch + k % 2 * line_pitch; }

    /// Columns of line r that matter: of Cholesky those up to its last row's diagonal.
    static RICCI_FUNCTION constexpr int width(int r) { return is_cholesky ? smaller_of(n, lanes * (r + 1)) : n; }

    /// f(line, column) for `Count` columns of the rows that exist.
    template <int Count, class F>
    RICCI_FUNCTION void each(const F& f) const {
        RICCI_UNROLL
        for (int r = 0; r < lines; ++r)
            if (has_row(r)) RICCI_UNROLL
        for (int j = 0; j < Count; ++j) f(r, j);
    }

    /// What there is no row for is some row, of which nothing is used; so is what lies above Cholesky's diagonal.
    RICCI_FUNCTION void load(element (&x)[lines][n]) const {
        RICCI_UNROLL
        for (int r = 0; r < lines; ++r) {
            const element* const first = lanes * (r + 1) <= m || row(r) < m ? place(r, 0) : matrix;
            RICCI_UNROLL
            for (int j = 0; j < width(r); ++j) x[r][j] = as_meant(first[j * slab::across]);
        }
    }
};

/// Elements [0, Count).
template <int Count, int Length>
RICCI_FUNCTION void write_run(element* line, const element (&x)[Length]) {
    RICCI_UNROLL
    for (int j = 0; j < Count; j += in_access) {
        neighbors<element, in_access> v;
        RICCI_UNROLL
        for (int e = 0; e < in_access; ++e) v.e[e] = x[j + e < Count ? j + e : Count - 1];
        *reinterpret_cast<neighbors<element, in_access>*>(line + j) = v;
    }
}
/// f(j, element j) for elements [First, Count) of a published line, which are read as they are used: that takes the
/// fewest registers.
template <int First, int Count, class F>
RICCI_FUNCTION void read_run(const element* line, const F& f) {
    RICCI_UNROLL
    for (int j = First / in_access * in_access; j < Count; j += in_access) {
        const auto v = load_neighbors<element, in_access>(line + j);
        RICCI_UNROLL
        for (int e = 0; e < in_access; ++e)
            if (j + e >= First && j + e < Count) f(j + e, v.e[e]);
    }
}
template <int Count, class F>
RICCI_FUNCTION void each_behind_first(const element* line, const F& f) {
    RICCI_UNROLL
    for (int j = 0; j < Count; j += in_access) {
        if (j == 0 && in_access == 1) continue;
        const auto v = load_neighbors<element, in_access>(line + j);
        RICCI_UNROLL
        for (int e = 0; e < in_access; ++e)
            if (j + e > 0 && j + e < Count) f(j + e, v.e[e]);
    }
}

/// Where a lane's rows are after the exchanges so far; -1: no row.
struct row_places {
    int position[lines];
    int info = 0;
    bool is_odd = false; ///< the exchanges

    RICCI_FUNCTION explicit row_places(const lane_group& group) {
        RICCI_UNROLL
        for (int r = 0; r < lines; ++r) position[r] = lanes * (r + 1) <= m || group.row(r) < m ? group.row(r) : -1;
    }
};
