// gett, for a CPU: any product of two operands, however many axes its sides and its sum have and wherever these lie,
// and with padded operands: convolutions among them. In the way of Springer and Bientinesi, "Design of a
// high-performance GEMM-like tensor-tensor multiplication" (2018), and Matthews' TBLIS (2018): both operands are
// packed on their way into the caches, so that what is multiplied lies in one line whatever the tensors look like.
// What a padded operand lacks is packed as 0; nothing else ever sees it.
//
// A block of the launch has rows_of_block by columns_of_block elements of one product's C, and goes along the sum by
// k_panel steps: it packs its columns of Y for these, which stay in L2, then one panel of X after another, as many rows
// as a tile has, which stays in L1 while all columns pass by. Sums are kept beside, in the type that is computed in,
// and go to C at the end.
//
// A complex product is a real one of twice as many rows, as in register_tile_cpu.hpp.
//
// Constants: product.hpp's, where all that a tensor's size decides comes in the arguments, so that one kernel serves
// many; tile_m (vectors) and tile_n (columns) of a tile; k_panel; rows_of_block, a multiple of a tile's rows;
// columns_of_block, of tile_n; k_unrolled; simd_bytes; gett_arguments.hpp's; sum_line[] of X and Y: 1 where steps along
// the sum's first axis are neighbors, none of them outside if one is not, 2 where all steps are, none of them outside;
// 0 elsewhere.
#pragma once

#include "gett_arguments.hpp"
#include "inside_range.hpp"
#include "real_product.hpp"

constexpr int lanes = simd_lanes<real>;
using vector = simd<real, lanes>;
constexpr int panel_numbers = tile_m * lanes, panel_rows = panel_numbers / parts; ///< real numbers; rows of X
constexpr int block_numbers = rows_of_block * parts;

static_assert(rows_of_block % panel_rows == 0 && columns_of_block % tile_n == 0);

RICCI_FUNCTION long long column_count(const arguments& a) { return count_along(a.n_length, n_axes); }
RICCI_FUNCTION long long step_count(const arguments& a) { return count_along(a.k_length, k_axes); }

// ---- runs: rows or columns that follow each other along the side's first axis ----

struct run {
    int first, count;
    long long offset;                   ///< of the operand's element at the run's first row, and the sum's first step
    long long at[at_least_one(bound_count)]; ///< padded positions' values there
};

/// One side's axes in one operand.
struct side {
    int axes;
    const long long *lengths, *steps;
};

/// The runs of rows [first, first + count) of a side; returns how many there are.
RICCI_FUNCTION int find_runs(const gett_arguments& a, const side& s, int bounds_of, const long long* bounds_here,
                             long long first, int count, run* runs) {
    int found = 0;
    for (int row = 0; row < count; ++found) {
        run& r = runs[found];
        r.first = row, r.count = count - row, r.offset = 0;
        for (int b = 0; b < bound_count; ++b) r.at[b] = bounds_here[b];
        long long rest = first + row;
        for (int axis = 0; axis < s.axes; ++axis) {
            const long long length = s.lengths[axis], at = axis + 1 == s.axes ? rest : rest % length;
            if (axis == 0 && length - at < r.count) r.count = static_cast<int>(length - at);
            r.offset += at * s.steps[axis];
            for (int b = 0; b < bound_count; ++b)
                if (bound_side[b] == bounds_of) r.at[b] += at * a.bound_step[b][axis];
            rest /= length;
        }
        row += r.count;
    }
    return found;
}

/// Where a step of the sum lies in an operand, and what it adds to padded positions.
template <int InY> struct sum_step {
    long long at[at_least_one(k_axes)] = {}, offset = 0, bound[at_least_one(bound_count)] = {};

    RICCI_FUNCTION sum_step(const gett_arguments& a, long long step) {
        for (int axis = 0; axis < k_axes; ++axis) {
            at[axis] = axis + 1 == k_axes ? step : step % a.k_length[axis];
            step /= a.k_length[axis];
            move(a, axis, at[axis]);
        }
    }
    RICCI_FUNCTION void move(const gett_arguments& a, int axis, long long by) {
        offset += by * a.k_step[InY][axis];
        for (int b = 0; b < bound_count; ++b) bound[b] += by * a.bound_sum_step[b][axis];
    }
    RICCI_FUNCTION void advance(const gett_arguments& a, long long by) {
        for (int axis = 0; axis < k_axes; ++axis) {
            const long long length = a.k_length[axis];
            at[axis] += by;
            move(a, axis, by);
            if (at[axis] < length || axis + 1 == k_axes) return;
            by = by == 1 ? 1 : at[axis] / length;
            at[axis] -= by * length;
            move(a, axis, -by * length);
        }
    }
};

// ---- packing ----

RICCI_FUNCTION void put_zeros(real* to, int count) {
    for (int t = 0; t < count; ++t) to[t] = 0;
}

/// Fewer neighbors than Lanes*2: by vectors of Lanes, then of half as many, and so on.
template <int Lanes, class Element> RICCI_FUNCTION void pack_few(const Element* from, int count, real* to) {
    if constexpr (Lanes > 1) {
        if (count >= Lanes) {
            store_whole<real, Lanes>(to, load_vector<Lanes, Lanes>(from));
            from += Lanes, to += Lanes, count -= Lanes;
        }
        pack_few<Lanes / 2>(from, count, to);
    } else {
        if (count > 0) *to = load_as<compute>(*from);
    }
}

/// `count` elements `step` apart, as the compute type has them. Neighbors by vectors, the last of which begins where
/// it ends with the last element.
template <bool Neighbors, bool Conjugated, class Element>
RICCI_FUNCTION void pack_run(const Element* from, long long step, int count, real* to) {
    if constexpr (Neighbors && loads_as_vector<Element> && parts == 1) {
        int t = 0;
        for (; t + lanes <= count; t += lanes)
            store_whole<real, lanes>(to + t, load_vector<lanes, lanes>(from + t));
        if (t == count) return;
        if (count >= lanes)
            return store_whole<real, lanes>(to + count - lanes, load_vector<lanes, lanes>(from + count - lanes));
        pack_few<lanes / 2>(from, count, to);
    } else {
        for (int t = 0; t < count; ++t) {
            const compute value = load_as<compute>(from[t * (Neighbors ? 1 : step)]);
            set_parts(to + t * parts, Conjugated ? conjugate(value) : value);
        }
    }
}

/// A step's part of a run: rows [low, high) are inside of the operand.
template <int InY>
RICCI_FUNCTION void find_inside(const gett_arguments& a, const run& r, const sum_step<InY>& at, int& low, int& high) {
    low = 0, high = r.count;
    for (int b = 0; b < bound_count; ++b)
        if (bound_side[b] == InY + 1)
            narrow(r.at[b] + at.bound[b], (InY ? n_axes : m_axes) == 0 ? 0 : a.bound_step[b][0], a.bound_extent[b], low,
                   high);
}

/// As many steps as a vector has lanes, which are neighbors in memory: turned in registers (of an element at a time
/// packing f32 takes 2 to 4 cycles for each, so one).
template <int InY, int Width, class Element>
RICCI_FUNCTION void pack_turned(const gett_arguments& a, const Element* from, const run* runs, int run_count,
                                long long apart, const sum_step<InY>& at, real* to) {
    const Element* rows[Width] = {};
    for (int n = 0; n < run_count; ++n) {
        int low, high;
        find_inside(a, runs[n], at, low, high);
        for (int t = low; t < high; ++t) rows[runs[n].first + t] = from + runs[n].offset + at.offset + t * apart;
    }
    for_each_of<(Width + lanes - 1) / lanes>([&](auto group) RICCI_INLINED {
        constexpr int first = group * lanes, count = Width - first < lanes ? Width - first : lanes;
        vector v[lanes];
        for_each_of<lanes>([&](auto i) RICCI_INLINED {
            v[i] = vector{};
            if constexpr (i < count)
                if (rows[first + i] != nullptr) v[i] = load_vector<lanes, lanes>(rows[first + i]);
        });
        transpose<real, lanes, 1>(v);
        for_each_of<lanes>([&](auto l) RICCI_INLINED { store_part<real, lanes, count>(to + l * Width + first, v[l]); });
    });
}

/// Rows of `runs`, Width at most, for `steps` steps from `first` on: steps one after another, of Width rows each.
template <int InY, int Width, class Element>
RICCI_FUNCTION void pack(const gett_arguments& a, const Element* from, const run* runs, int run_count, long long first,
                         int steps, real* to) {
    constexpr int axes = InY ? n_axes : m_axes;
    constexpr bool neighbors = axes == 0 || (InY ? n_stride[1][0] : m_stride[1][0]) == 1;
    constexpr bool conjugated = InY ? y_conjugated : x_conjugated;
    const long long apart = axes == 0 ? 0 : InY ? a.n_step[1][0] : a.m_step[1][0];
    const int rows = runs[run_count - 1].first + runs[run_count - 1].count;
    constexpr bool turns = !neighbors && parts == 1 && loads_as_vector<Element> && sum_line[InY] > 0 && Width > 1;
    sum_step<InY> at(a, first);
    for (int l = 0; l < steps; ++l, to += Width * parts, at.advance(a, 1)) {
        if constexpr (turns) {
            const long long line = sum_line[InY] == 2 ? steps : a.k_length[0] - at.at[0];
            for (long long left = line < steps - l ? line : steps - l; left >= lanes; left -= lanes) {
                pack_turned<InY, Width>(a, from, runs, run_count, apart, at, to);
                at.advance(a, lanes);
                l += lanes, to += lanes * Width;
            }
            if (l == steps) return;
        }
        for (int n = 0; n < run_count; ++n) {
            const run& r = runs[n];
            int low, high;
            find_inside(a, r, at, low, high);
            real* const start = to + r.first * parts;
            if (low > 0) put_zeros(start, low * parts);
            if (low < high)
                pack_run<neighbors, conjugated>(from + r.offset + at.offset + low * apart, apart, high - low,
                                                start + low * parts);
            if (high < r.count) put_zeros(start + high * parts, (r.count - high) * parts);
        }
        if (rows < Width) put_zeros(to + rows * parts, (Width - rows) * parts);
    }
}

// ---- blocks ----

struct block_memory {
    alignas(64) real x[k_panel * panel_numbers];
    alignas(64) real y[k_panel * columns_of_block * parts];
    alignas(64) real sums[columns_of_block * parts][block_numbers];
    run runs[rows_of_block > columns_of_block ? rows_of_block : columns_of_block];
};

/// A panel of X times tile_n columns of Y for `steps` steps, to or added to their sums.
RICCI_FUNCTION void gett_tile(const real* x, const real* y, int steps, real (*sums)[block_numbers], bool starts) {
    start_afresh();
    vector t[tile_m][tile_n][parts];
    set_to_zero(t);
    constexpr int unrolled = k_unrolled;
#pragma GCC unroll unrolled
    for (int l = 0; l < steps; ++l) {
        vector row[tile_m];
        RICCI_ALL_UNROLLED for (int v = 0; v < tile_m; ++v)
            row[v] = load_whole<real, lanes>(x + l * panel_numbers + v * lanes);
        const real* const numbers = anchored(y + l * tile_n * parts);
        RICCI_ALL_UNROLLED for (int j = 0; j < tile_n; ++j)
            RICCI_ALL_UNROLLED for (int p = 0; p < parts; ++p) {
                const real number = numbers[j * parts + p];
                RICCI_ALL_UNROLLED for (int v = 0; v < tile_m; ++v) t[v][j][p] += row[v] * number;
            }
    }
    RICCI_ALL_UNROLLED for (int j = 0; j < tile_n; ++j)
        RICCI_ALL_UNROLLED for (int p = 0; p < parts; ++p)
            RICCI_ALL_UNROLLED for (int v = 0; v < tile_m; ++v) {
                real* const to = &sums[j * parts + p][v * lanes];
                store_whole<real, lanes>(to, starts ? t[v][j][p] : load_whole<real, lanes>(to) + t[v][j][p]);
            }
}

/// The sums of one column to C.
RICCI_FUNCTION void store_column(const arguments& a, c_element* c, const run* runs, int run_count,
                                 const real (*sums)[block_numbers]) {
    constexpr bool neighbors = m_axes == 0 || m_stride[0][0] == 1;
    const long long apart = neighbors ? 1 : a.m_step[0][0];
    for (int n = 0; n < run_count; ++n) {
        const run& r = runs[n];
        c_element* const to = c + r.offset;
        const real* const real_parts = sums[0] + r.first * parts;
        const real* const imaginary_parts = sums[parts - 1] + r.first * parts;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
        for (int t = 0; t < r.count; ++t) {
            // (re, im) of X times Y's real part, and times its imaginary part
            real value[2] = {real_parts[t * parts], 0};
            if constexpr (parts == 2) {
                value[0] -= imaginary_parts[t * 2 + 1];
                value[1] = real_parts[t * 2 + 1] + imaginary_parts[t * 2];
            }
            update(a, to[t * apart], from_parts<compute>(value));
        }
    }
}

/// Rows from `row`, columns from `column` of one product.
RICCI_FUNCTION void gett_block(const gett_arguments& a, const batch_places& at, const long long* bounds_here,
                               long long row, long long column, block_memory& own) {
    const int rows = at_most(row_count(a) - row, rows_of_block);
    const int columns = at_most(column_count(a) - column, columns_of_block);
    const long long all = step_count(a);
    const side x_rows{m_axes, a.m_length, a.m_step[1]}, y_columns{n_axes, a.n_length, a.n_step[1]};
    for (long long first = 0; first < all; first += k_panel) {
        const int steps = at_most(all - first, k_panel);
        for (int j = 0; j < columns; j += tile_n) {
            const int found =
                find_runs(a, y_columns, 2, bounds_here, column + j, at_most(columns - j, tile_n), own.runs);
            pack<1, tile_n>(a, at.y, own.runs, found, first, steps, own.y + j * k_panel * parts);
        }
        for (int i = 0; i < rows; i += panel_rows) {
            const int found = find_runs(a, x_rows, 1, bounds_here, row + i, at_most(rows - i, panel_rows), own.runs);
            pack<0, panel_rows>(a, at.x, own.runs, found, first, steps, own.x);
            for (int j = 0; j < columns; j += tile_n)
                gett_tile(own.x, own.y + j * k_panel * parts, steps,
                          reinterpret_cast<real(*)[block_numbers]>(&own.sums[j * parts][i * parts]), first == 0);
        }
    }
    const side c_rows{m_axes, a.m_length, a.m_step[0]};
    const int found = find_runs(a, c_rows, 0, bounds_here, row, rows, own.runs);
    for (int j = 0; j < columns; ++j)
        store_column(a, at.c + n_offset(a, 0, column + j), own.runs, found, own.sums + j * parts);
}

extern "C" void ricci_gett(const void* words, long long first, long long last) {
    const gett_arguments& a = *static_cast<const gett_arguments*>(words);
    const long long row_blocks = divided_up(row_count(a), rows_of_block);
    const long long column_blocks = divided_up(column_count(a), columns_of_block);
    block_memory own;
    for (long long block = first; block < last; ++block) {
        const long long product = block / (row_blocks * column_blocks), part = block % (row_blocks * column_blocks);
        long long bounds_here[at_least_one(bound_count)] = {};
        find_bounds(a, product, bounds_here);
        gett_block(a, places_of(a, product), bounds_here, part % row_blocks * rows_of_block,
                   part / row_blocks * columns_of_block, own);
    }
}
