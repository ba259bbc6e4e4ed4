// register_tile: one product on a CPU. Tiles of C are summed in registers, vectors along m, and stored once.
//
//   X lies in memory                                     and is taken
//   along m without gaps, of the compute type or halves  from where it is
//   along k without gaps, where there are registers      transposed in these, C being one tile wide
//   along k without gaps, otherwise                      transposed on its way into a packed copy
//   in any other way                                     copied element by element
// Elements of Y are broadcast from where they are; where they are of another type, or k has several axes, from a
// packed copy. A complex product is a real one of 2m rows, whose Y has the real and the imaginary parts as columns
// beside each other: what one column has of X times the real part, and what the next has of X times the imaginary
// part, are put together when C is stored.
//
// Constants: product.hpp's; tile_m (vectors) and tile_n (columns) of a tile, at most: tiles are made as even as they
// can be; k_unrolled (steps of the sum without a jump, 0: all); simd_bytes and simd_registers of
// the machine; products_ahead: how far ahead of what is multiplied X and Y are fetched, 0: left to the machine.
#pragma once

#include "real_product.hpp"

constexpr int real_rows = static_cast<int>(m) * parts;
constexpr int lanes = lanes_for<real>(real_rows < 2 ? 2 : real_rows); // g++ 12 fails on vectors of one lane
constexpr int row_vectors = (real_rows + lanes - 1) / lanes;
constexpr int last_lanes = real_rows - (row_vectors - 1) * lanes;
using vector = simd<real, lanes>;

constexpr even_division row_tiles(row_vectors, tile_m), column_tiles(static_cast<int>(n), tile_n);

constexpr int steps_without_jump = k_unrolled > 0 && k_unrolled < k ? k_unrolled : static_cast<int>(k);

constexpr bool x_along_m = m_axes == 1 && k_axes == 1 && m_stride[1][0] == 1;
constexpr bool x_along_k = m_axes == 1 && k_axes == 1 && k_stride[0][0] == 1 && m > 1 && k > 1;
constexpr bool x_is_direct = x_along_m && loads_as_vector<x_element>;
constexpr bool x_is_transposed = !x_is_direct && x_along_k && loads_as_vector<x_element>;
constexpr int larger_tile = row_tiles.each + (row_tiles.more > 0 ? 1 : 0);
constexpr bool x_in_registers = x_is_transposed && column_tiles.parts == 1 &&
                                larger_tile * (static_cast<int>(n) * parts + lanes / parts) <= simd_registers;
constexpr bool x_is_packed = !x_is_direct && !x_in_registers;
constexpr bool y_is_packed = k_axes > 1 || n_axes > 1 || !is_same<y_element, compute>;
/// Its copy is by lines of memory, which are Y's rows where it lies along n.
constexpr bool y_is_widened = k_axes == 1 && n_axes == 1 && is_widened<y_element>;
constexpr bool y_copied_by_rows = y_is_widened && k_stride[1][0] != 1 && n_stride[1][0] == 1;
constexpr int y_line = static_cast<int>(y_copied_by_rows ? n : k), y_lines = static_cast<int>(n * k / y_line);
constexpr bool c_along_m = m_axes == 1 && m_stride[0][0] == 1;

/// Copies of a product's operands. Lines of Y are copied by whole vectors, the last one's end too.
struct packed_operands {
    alignas(64) real x[x_is_packed ? k : 1][row_vectors * lanes];
    alignas(64) real y[y_is_packed ? n * k * parts + (y_is_widened ? simd_lanes<real> : 0) : 1];
};

RICCI_FUNCTION vector exchange_pairs(vector v) { return shuffled<pairs_exchanged, real, lanes>(v, v); }
/// Alternating numbers.
RICCI_FUNCTION vector alternating(real even, real odd) {
    vector v{};
    for_each_of<lanes>([&](auto t) RICCI_INLINED { v[t.value] = t % 2 ? odd : even; });
    return v;
}

// ---- X and Y ----

constexpr int elements_of_vector = lanes / parts;

/// Vectors along m for steps [step, step + Steps) of the sum, of which X has rows [row, row + Rows) along k.
template <int Rows, int Steps>
RICCI_FUNCTION void load_transposed(const arguments& a, const x_element* x, int row, int step,
                                    vector (&v)[elements_of_vector]) {
    const x_element* from = x + m_offset(a, 1, row) + step;
    for_each_of<elements_of_vector>([&](auto i) RICCI_INLINED {
        if constexpr (i < Rows) v[i] = load_vector<lanes, Steps>(from + m_offset(a, 1, i));
        else v[i] = vector{};
    });
    transpose<real, lanes, parts>(v);
}

/// f(constant: steps of the block, its first step) for blocks of as many steps as a vector has elements.
template <class F> RICCI_FUNCTION void for_blocks_of_steps(const F& f) {
    constexpr int whole = static_cast<int>(k) / elements_of_vector, rest = static_cast<int>(k) % elements_of_vector;
    for (int block = 0; block < whole; ++block) f(constant<elements_of_vector>(), block * elements_of_vector);
    if constexpr (rest > 0) f(constant<rest>(), whole * elements_of_vector);
}

/// (Where the last steps are most of a vector, with some before them again: code for fewer takes as long to compile.)
template <class X> RICCI_FUNCTION void pack_x(const arguments& a, const X* x, packed_operands& packed) {
    if constexpr (x_is_transposed) {
        constexpr int all = static_cast<int>(k), side = elements_of_vector;
        const auto rows_from = [&](auto rows, int row) RICCI_INLINED {
            const auto block = [&](auto steps, int step) RICCI_INLINED {
                vector v[side];
                load_transposed<rows, steps>(a, x, row, step, v);
                for_each_of<steps>([&](auto l) RICCI_INLINED {
                    store_whole<real, lanes>(&packed.x[step + l][row * parts], v[l]);
                });
            };
            if constexpr (all > side && all % side >= side / 2)
                for (int step = 0; step < all; step += side)
                    block(constant<side>(), step < all - side ? step : all - side);
            else for_blocks_of_steps(block);
        };
        for (int b = 0; b + 1 < row_vectors; ++b) rows_from(constant<elements_of_vector>(), b * elements_of_vector);
        rows_from(constant<last_lanes / parts>(), (row_vectors - 1) * elements_of_vector);
    } else {
        for (int l = 0; l < k; ++l)
            for (int i = 0; i < m; ++i) set_parts(&packed.x[l][i * parts], load_as<compute>(x[x_offset(a, i, l)]));
    }
}

/// Lanes beyond the last row, which nothing is ever packed into.
RICCI_FUNCTION void clear_padding(packed_operands& packed) {
    if constexpr (x_is_packed && last_lanes < lanes)
        for (auto& step : packed.x)
            for (int row = real_rows; row < row_vectors * lanes; ++row) step[row] = 0;
}

/// Steps [first, first + steps) of a column of Y.
template <class Y>
RICCI_FUNCTION void copy_column(const arguments& a, const Y* y, int column, int first, int steps, real* to) {
    int l = 0;
    if constexpr (y_is_widened && k_stride[1][0] == 1)
        for (constexpr int some = simd_lanes<real>; l + some <= steps; l += some)
            store_whole<real, some>(to + l, load_vector<some, some>(y + y_offset(a, first + l, column)));
    for (; l < steps; ++l) set_parts(to + l * parts, load_as<compute>(y[y_offset(a, first + l, column)]));
}

/// Of what is copied: no wider than what is multiplied, but 32 bytes, for among vectors of 64 bytes narrower ones
/// have one multiplier only (f16 8 x 8 x 8: 28 GF/s by 64 bytes, 81 by 32).
constexpr int copied_lanes =
    lanes * static_cast<int>(sizeof(real)) >= 32 ? lanes : lanes_for<real>(32 / sizeof(real));

/// Count neighbors, by whole vectors: what the last one has beyond them is written over by what comes next.
template <int Count, class Y> RICCI_FUNCTION void copy_line(const Y* y, real* to) {
    constexpr int some = copied_lanes, whole = Count / some, rest = Count % some;
    for (int v = 0; v < whole; ++v) store_whole<real, some>(to + v * some, load_vector<some, some>(y + v * some));
    if constexpr (rest > 0) store_whole<real, some>(to + whole * some, load_vector<some, rest>(y + whole * some));
}

template <class Y> RICCI_FUNCTION void pack_y(const arguments& a, const Y* y, packed_operands& packed) {
    if constexpr (y_is_widened && (k_stride[1][0] == 1 || y_copied_by_rows)) {
        constexpr long long step = y_copied_by_rows ? k_stride[1][0] : n_stride[1][0];
        if constexpr (step == y_line) copy_line<y_line * y_lines>(y, packed.y);
        else
            for (int i = 0; i < y_lines; ++i)
                copy_line<y_line>(y + (y_copied_by_rows ? k_offset(a, 1, i) : n_offset(a, 1, i)),
                                  packed.y + i * y_line);
    } else {
        for (int j = 0; j < n; ++j) copy_column(a, y, j, 0, static_cast<int>(k), packed.y + j * k * parts);
    }
}

/// Where a product's X and Y are read, and those of the product to fetch meanwhile, if any, with its C.
struct product_operands {
    const x_element* x;
    const y_element* y;
    const packed_operands* packed;
    const x_element* next_x;
    const y_element* next_y;
    const c_element* next_c;
};

/// Elements between the first and the last of a matrix with constant strides; 0 where they are none, or far apart.
constexpr long long span_of(long long rows, long long row_step, long long columns, long long column_step) {
    if (row_step == argument || column_step == argument || row_step < 0 || column_step < 0) return 0;
    const long long span = (rows - 1) * row_step + (columns - 1) * column_step + 1;
    return span <= 2 * rows * columns ? span : 0;
}
constexpr bool has_spans = products_ahead > 0 && m_axes == 1 && n_axes == 1 && k_axes == 1;
constexpr long long x_bytes = has_spans ? span_of(m, m_stride[1][0], k, k_stride[0][0]) * sizeof(x_element) : 0;
constexpr long long y_bytes = has_spans ? span_of(k, k_stride[1][0], n, n_stride[1][0]) * sizeof(y_element) : 0;
/// C too, but where it is stored only and has lines of memory for itself: stores of parts of lines wait for these
/// (f64 29, `=`, from memory: 71 % of the triad without, 101 with; f64 32, `+=`: 120 and 150).
constexpr bool c_waits = accumulate || n_stride[0][0] % (64 / static_cast<int>(sizeof(c_element))) != 0;
constexpr long long c_bytes =
    has_spans && c_waits ? span_of(m, m_stride[0][0], n, n_stride[0][0]) * sizeof(c_element) : 0;

/// Of a matrix of Bytes, what step l of a tile fetches: tiles and their steps share it evenly, for fetches all at
/// once are in the way of what is multiplied. (A line is asked for more than once: choosing the steps that begin one
/// costs more than it saves.)
template <long long Bytes, int Vectors, int Columns, bool Write = false>
RICCI_FUNCTION void fetch_share(const void* next, int row, int column, int l) {
    if constexpr (Bytes > 0) {
        constexpr double of_tile = double(Bytes) * Columns / n * Vectors / row_vectors;
        constexpr int line = 64, of_step = static_cast<int>(of_tile / k);
        const int before = static_cast<int>(Bytes * column / n + Bytes * Columns / n * row / (row_vectors * lanes));
        const char* p = static_cast<const char*>(next) + before + l * of_step;
        RICCI_ALL_UNROLLED for (int part = 0; part == 0 || part < of_step; part += line)
            __builtin_prefetch(p + part, Write, 3);
    }
}

/// The vector that begins at real row `row` of an X along m for step l, from where it lies.
template <int Count, class X> RICCI_FUNCTION vector x_along_rows(const arguments& a, const X* x, int row, int l) {
    return load_vector<lanes, Count / parts>(x + k_offset(a, 0, l) + row / parts);
}

/// The same of any X, from its packed copy if there is one.
template <int Count>
RICCI_FUNCTION vector x_vector(const arguments& a, const product_operands& from, int row, int l) {
    if constexpr (x_is_packed) return load_whole<real, lanes>(&from.packed->x[l][row]);
    else return x_along_rows<Count>(a, from.x, row, l);
}

/// Y's numbers of step l, from a column on.
RICCI_FUNCTION const real* y_numbers(const arguments& a, const product_operands& from, int l, int column) {
    if constexpr (y_copied_by_rows) return anchored(from.packed->y + l * n + column);
    else if constexpr (y_is_packed) return anchored(from.packed->y + (column * k + l) * parts);
    else return anchored(reinterpret_cast<const real*>(from.y + y_offset(a, l, column)));
}

/// Numbers between two columns of those.
RICCI_FUNCTION long long y_columns_apart(const arguments& a) {
    if constexpr (y_copied_by_rows) return 1;
    else if constexpr (y_is_packed) return k * parts;
    else return n_offset(a, 1, 1) * parts;
}

// ---- C ----

/// Numbers, or pairs of real and imaginary parts, times one of the arguments'.
RICCI_FUNCTION vector times(const vector& v, const double (&number)[2]) {
    if constexpr (parts == 2)
        return v * static_cast<real>(number[0]) +
               exchange_pairs(v) * alternating(static_cast<real>(-number[1]), static_cast<real>(number[1]));
    else return v * static_cast<real>(number[0]);
}

/// alpha * (sums of X times the real parts of Y + i * those times the imaginary parts), or the like for real numbers.
template <int Parts> RICCI_FUNCTION vector finished(const arguments& a, const vector (&sums)[Parts]) {
    vector v;
    if constexpr (Parts == 2) {
        // (re, im) of X, each times the real part, and (im, re) times the imaginary part
        constexpr real other = y_conjugated ? -1 : 1, both = x_conjugated == y_conjugated ? -1 : 1;
        const vector turned = exchange_pairs(sums[1]);
        v = x_conjugated ? sums[0] * alternating(1, -1) : sums[0];
        v += turned * alternating(both, other);
    } else {
        v = sums[0];
    }
    if constexpr (scaled) v = times(v, a.alpha);
    return negative ? -v : v;
}

constexpr bool c_is_direct = c_along_m && stores_as_vector<c_element>;

/// Added to what C has, where its vectors can be loaded.
template <bool Adds, int Count>
RICCI_FUNCTION vector with_c(const arguments& a, const c_element* c, int row, int column, vector v) {
    const c_element* from = c + n_offset(a, 0, column);
    if constexpr (Adds && c_is_direct) {
        const vector old = load_vector<lanes, Count / parts>(from + row / parts);
        if constexpr (c_scaled) return times(old, a.beta) + v;
        else return old + v;
    } else return v;
}

template <bool Adds, int Count>
RICCI_FUNCTION void store_tile_vector(const arguments& a, c_element* c, int row, int column, vector v) {
    c_element* to = c + n_offset(a, 0, column);
    if constexpr (c_is_direct) {
        store_vector<lanes, Count / parts>(to + row / parts, v);
    } else {
        for_each_of<Count / parts>([&](auto e) RICCI_INLINED {
            const real number[2] = {v[e * parts], v[e * parts + parts - 1]};
            c_element& element = c[c_offset(a, row / parts + e, column)];
            compute sum = from_parts<compute>(number);
            if constexpr (Adds) sum = load_c(a, element) + sum;
            element = store_as<c_element>(sum);
        });
    }
}

/// A tile's sums to C, added to what is there or not. Rows from real row `row` on: Vectors vectors, of which the last
/// has Last lanes.
template <bool Adds, int Last, int Vectors, int Columns>
RICCI_FUNCTION void store_tile(const arguments& a, vector (&sums)[Vectors][Columns][parts], c_element* c, int row,
                               int column) {
    constexpr int last = Vectors - 1;
    const auto finish = [&](int j) RICCI_INLINED {
        RICCI_ALL_UNROLLED for (int v = 0; v < last; ++v)
            sums[v][j][0] = with_c<Adds, lanes>(a, c, row + v * lanes, column + j, finished(a, sums[v][j]));
        sums[last][j][0] = with_c<Adds, Last>(a, c, row + last * lanes, column + j, finished(a, sums[last][j]));
    };
    const auto store = [&](int j) RICCI_INLINED {
        RICCI_ALL_UNROLLED for (int v = 0; v < last; ++v)
            store_tile_vector<Adds, lanes>(a, c, row + v * lanes, column + j, sums[v][j][0]);
        store_tile_vector<Adds, Last>(a, c, row + last * lanes, column + j, sums[last][j][0]);
    };
    // A load waits for stores of parts of vectors beside it (f32 6, `+=`: 13 GF/s, so 56): all loads come first.
    constexpr bool apart = Adds && Last < lanes;
    RICCI_ALL_UNROLLED for (int j = 0; j < Columns; ++j) {
        finish(j);
        if constexpr (!apart) store(j);
    }
    if constexpr (apart)
        RICCI_ALL_UNROLLED for (int j = 0; j < Columns; ++j) store(j);
}

// ---- a tile ----

/// Rows from real row `row` on: Vectors vectors, of which the last has Last lanes; Columns columns from `column` on.
template <int Vectors, int Last, int Columns>
RICCI_FUNCTION void product_tile(const arguments& a, const product_operands& from, c_element* c, int row,
                                 int column) {
    start_afresh();
    vector sums[Vectors][Columns][parts];
    set_to_zero(sums);
    const auto add_step = [&](int l, const vector(&x)[Vectors]) RICCI_INLINED {
        const real* const numbers = y_numbers(a, from, l, column);
        RICCI_ALL_UNROLLED for (int j = 0; j < Columns; ++j)
            RICCI_ALL_UNROLLED for (int p = 0; p < parts; ++p) {
                const real y = numbers[j * y_columns_apart(a) + p];
                RICCI_ALL_UNROLLED for (int v = 0; v < Vectors; ++v) sums[v][j][p] += x[v] * y;
            }
    };
    if constexpr (x_in_registers) {
        for_blocks_of_steps([&](auto steps, int step) RICCI_INLINED {
            vector block[Vectors][elements_of_vector];
            constexpr int whole = lanes / parts, rest = Last / parts;
            const auto rows_of = [&](int v) { return row / parts + v * elements_of_vector; };
            RICCI_ALL_UNROLLED for (int v = 0; v + 1 < Vectors; ++v)
                load_transposed<whole, steps>(a, from.x, rows_of(v), step, block[v]);
            load_transposed<rest, steps>(a, from.x, rows_of(Vectors - 1), step, block[Vectors - 1]);
            RICCI_ALL_UNROLLED for (int l = 0; l < steps; ++l) {
                vector x[Vectors];
                RICCI_ALL_UNROLLED for (int v = 0; v < Vectors; ++v) x[v] = block[v][l];
                add_step(step + l, x);
            }
        });
    } else {
#pragma GCC unroll steps_without_jump
        for (int l = 0; l < static_cast<int>(k); ++l) {
            fetch_share<x_bytes, Vectors, Columns>(from.next_x, row, column, l);
            fetch_share<y_bytes, Vectors, Columns>(from.next_y, row, column, l);
            fetch_share<c_bytes, Vectors, Columns, true>(from.next_c, row, column, l);
            vector x[Vectors];
            RICCI_ALL_UNROLLED for (int v = 0; v + 1 < Vectors; ++v)
                x[v] = x_vector<lanes>(a, from, row + v * lanes, l);
            x[Vectors - 1] = x_vector<Last>(a, from, row + (Vectors - 1) * lanes, l);
            add_step(l, x);
        }
    }
    store_tile<accumulate, Last>(a, sums, c, row, column);
}

/// C's (op)= alpha * X*Y for one product.
RICCI_FUNCTION void product_by_tiles(const arguments& a, const product_operands& from, c_element* c) {
    for_each_part<column_tiles>([&](auto columns, int column) RICCI_INLINED {
        for_each_part_and_last<row_tiles>([&](auto vectors, auto is_last, int first) RICCI_INLINED {
            product_tile<vectors, is_last ? last_lanes : lanes, columns>(a, from, c, first * lanes, column);
        });
    });
}
