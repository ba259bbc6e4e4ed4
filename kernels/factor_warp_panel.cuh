// factor_warp_panel: a panel of columns, factored in the registers of the lanes that share a matrix, each of whose
// rows also keeps what the steps would have made of the identity, in the registers of columns that are done.
//
// While the search for a pivot (factor_pivot_search.cuh) runs each lane takes the reciprocal of what may be its own;
// the pivot's lane publishes it with its row, in its own column's place. A step has no branches: where several rows
// may be the pivot's, or its reciprocal overflows or underflows, the whole panel is factored again, with care.
#pragma once

#include "factor_reciprocal.cuh"
#include "factor_warp_shape.cuh"

/// Lanes of a matrix.
struct warp_lanes {
    matrix_memory& memory;
    int lane;
    unsigned standing[lane_rows];

    RICCI_FUNCTION warp_lanes(matrix_memory& of_matrix, int number) : memory(of_matrix), lane(number) {
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r)
            standing[r] = has_row(r) ? is_candidate | static_cast<unsigned>(row(r)) : 0;
    }

    RICCI_FUNCTION int row(int r) const { return lane + lanes * r; }
    RICCI_FUNCTION bool has_row(int r) const { return lanes * (r + 1) <= m || row(r) < m; }
    /// f(r, row).
    template <class F>
    RICCI_FUNCTION void each_row(const F& f) const {
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r)
            if (has_row(r)) f(r, row(r));
    }
    /// What stands at step k, behind the last where there are fewer pivots than rows.
    RICCI_FUNCTION int position_of_row(int r) const {
        return m > pivots && standing[r] >= is_candidate ? position_behind(memory.positions, pivots, row(r))
                                                         : static_cast<int>(standing[r]);
    }

    template <int Width>
    RICCI_FUNCTION void get_columns(int first, element (&x)[lane_rows][Width]) const {
        if (moves && first == 0)
            get_lines<m>(memory.as_it_came() + lane, x);
        else
            get_lines<lead>(memory.column(first) + lane, x);
    }
    template <int Width>
    RICCI_FUNCTION void put_columns(int first, const element (&x)[lane_rows][Width]) const {
        element* const to = memory.column(first) + lane;
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r)
            if (has_row(r)) {
                RICCI_UNROLL
                for (int j = 0; j < Width; ++j) to[lanes * r + j * lead] = x[r][j];
            }
    }

    /// A panel of the columns from `first` on: leaves its columns of the factors in `done`, and in x M. Of the last
    /// panel, behind which nothing is, x is `done`, and nobody wants M.
    template <bool IsLast = false, int Width>
    RICCI_FUNCTION void factor_panel(int first, element (&x)[lane_rows][Width], element (&done)[lane_rows][Width]) {
        if (__any_sync(0xffffffffu, !factor_quickly<IsLast>(first, x, done)))
            repeat_carefully<IsLast>(first, x, done);
    }

  private:
    template <int Step, int Width>
    RICCI_FUNCTION void get_lines(const element* from, element (&x)[lane_rows][Width]) const {
        RICCI_UNROLL
        for (int j = 0; j < Width; ++j)
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) {
                x[r][j] = zero();
                if (has_row(r)) x[r][j] = from[lanes * r + j * Step];
            }
    }

    /// Without what is rare; tells whether nothing of that came.
    template <bool IsLast, int Width>
    RICCI_FUNCTION bool factor_quickly(int first, element (&x)[lane_rows][Width], element (&done)[lane_rows][Width]) {
        int is_plain = 1;
        RICCI_UNROLL
        for (int c = 0; c < Width; ++c) {
            unsigned key[lane_rows];
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) key[r] = search_key(x[r][c], standing[r]);
            const unsigned best = largest_of_rows(key), largest = largest_of_lanes<lanes>(best);
            element pivot = x[0][c]; // perhaps
            RICCI_UNROLL
            for (int r = 1; r < lane_rows; ++r) pivot = key[r] == best ? x[r][c] : pivot;
            const element inverse = plain_reciprocal(negative(pivot));
            const bool is_rare = has_rival(key, largest) || is_extreme(largest & ~(is_candidate | row_bits));
            is_plain = as_if_new(is_rare ? 0 : is_plain); // now, or keys of all steps are kept until the end
            element* const told = memory.pivot_row[c % 2];
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r)
                if (key[r] == largest) tell_row(told, x[r], IsLast ? c : 0, c, inverse);
            if (lane == 0) memory.rows_of_pivots[first + c] = static_cast<int>(largest & row_bits);
            __syncwarp();
            element of_pivot[Width];
            hear_row(told, IsLast ? c : 0, of_pivot);
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) {
                if (key[r] == largest) standing[r] = static_cast<unsigned>(first + c);
                const bool is_below = standing[r] >= is_candidate;
                element l = product_of(x[r][c], of_pivot[c]);
                const element factor = is_below ? negative(l) : x[r][c];
                if (!is_below) l = zero();
                if constexpr (!IsLast) x[r][c] = l;
                done[r][c] = factor;
                RICCI_UNROLL
                for (int j = IsLast ? c + 1 : 0; j < Width; ++j)
                    if (j != c) add_product(x[r][j], l, of_pivot[j]);
            }
        }
        return is_plain != 0;
    }

    /// A row from an element on, whose element c becomes `instead`.
    template <int Width>
    static RICCI_FUNCTION void tell_row(element* told, const element (&x)[Width], int from, int c, element instead) {
        using access = neighbors<element, in_access>;
        RICCI_UNROLL
        for (int j = 0; j < Width; j += in_access) {
            if (j + in_access <= from) continue;
            access v;
            RICCI_UNROLL
            for (int e = 0; e < in_access; ++e) v.e[e] = j + e == c ? instead : x[smaller_of(j + e, Width - 1)];
            *reinterpret_cast<access*>(told + j) = v;
        }
    }
    template <int Width>
    static RICCI_FUNCTION void hear_row(const element* told, int from, element (&row)[Width]) {
        RICCI_UNROLL
        for (int j = 0; j < Width; j += in_access) {
            if (j + in_access <= from) continue;
            const auto v = load_neighbors<element, in_access>(told + j);
            RICCI_UNROLL
            for (int e = 0; e < in_access; ++e)
                if (j + e < Width) row[j + e] = v.e[e];
        }
    }

    /// A panel of which several rows may be a pivot's, or whose pivots' reciprocals overflow or underflow. The columns'
    /// registers move on by one a step: few instructions, which are rarely wanted.
    template <bool IsLast, int Width>
    RICCI_FUNCTION void repeat_carefully(int first, element (&x)[lane_rows][Width],
                                         element (&done)[lane_rows][Width]) {
        as_if_new(0); // a branch
        __syncwarp(); // all have read the last pivot's row
        get_columns(first, x);
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r)
            if (standing[r] < is_candidate && standing[r] >= static_cast<unsigned>(first) && has_row(r))
                standing[r] = is_candidate | static_cast<unsigned>(row(r));
        RICCI_UNROLL_ONCE
        for (int k = first; k < first + Width; ++k) {
            unsigned key[lane_rows];
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) key[r] = search_key(x[r][0], standing[r]);
            unsigned largest = largest_of_lanes<lanes>(largest_of_rows(key));
            if (__any_sync(0xffffffffu, has_rival(key, largest)))
                largest = decide(key, largest, k, [&](int r) { return x[r][0]; });
            element* const told = memory.pivot_row[k % 2];
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r)
                if (key[r] == largest) tell_row(told, x[r], 0, 0, x[r][0]);
            if (lane == 0) memory.rows_of_pivots[k] = static_cast<int>(largest & row_bits);
            __syncwarp();
            element of_pivot[Width], inverse;
            hear_row(told, 0, of_pivot);
            real scale = 1;
            if (is_zero(of_pivot[0])) {
                if (lane == 0 && memory.info == 0) memory.info = k + 1;
                inverse = negative(one());
            } else {
                const unsigned size = upper_of_size(of_pivot[0]);
                if (is_extreme(size)) scale = size < size_of_two ? reciprocal_scale : 1 / reciprocal_scale;
                inverse = plain_reciprocal(scaled(of_pivot[0], -scale));
            }
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) {
                if (key[r] == largest) standing[r] = static_cast<unsigned>(k);
                const bool is_below = standing[r] >= is_candidate;
                element l = product_of(scaled(x[r][0], scale), inverse);
                const element factor = is_below ? negative(l) : x[r][0];
                if (!is_below) l = zero();
                RICCI_UNROLL
                for (int j = 1; j < Width; ++j) {
                    if (!IsLast || j < first + Width - k) add_product(x[r][j], l, of_pivot[j]); // else it is done
                    x[r][j - 1] = x[r][j];
                }
                if constexpr (!IsLast) {
                    RICCI_UNROLL
                    for (int j = 0; j + 1 < Width; ++j) done[r][j] = done[r][j + 1];
                    x[r][Width - 1] = l;
                }
                done[r][Width - 1] = factor;
            }
        }
    }

    /// By all the numbers' bits, and of equally large ones by their rows' positions.
    template <class Number>
    RICCI_FUNCTION unsigned decide(const unsigned (&key)[lane_rows], unsigned largest, int k, const Number& number) {
        __syncwarp();
        RICCI_UNROLL_ONCE
        for (int i = lane; i < k; i += lanes) memory.positions[i] = memory.rows_of_pivots[i];
        __syncwarp();
        find_positions<lanes>(memory.positions, lane, k);
        return decide_pivot<lanes>(key, largest, true, number,
                                   [&](int r) { return position_behind(memory.positions, k, row(r)); });
    }
};
