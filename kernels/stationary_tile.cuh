// stationary_tile: what a warp of batched_stationary computes: some rows of C from those rows of X, which it keeps in
// registers, and slices of columns of Y in shared memory. C^T = Y^T X^T is computed, for a lane's two sums to be
// neighbors in a column of C.
//
// Constants: slice_ring.cuh's, mma_numbers.cuh's, and
//   tile_m             tiles of 8 rows a warp
//   tile_n             tiles of columns a warp, each of as many as the tensor cores' product has rows
//   row_warps          warps that share the rows; as many more take other columns of a slice
//   k_apart            as batched_mma.cuh's
//   x_is_split         whether X is kept as pairs of TF32 numbers, or as f32 to be split each time
//   has_fragments      whether warps of their own bring Y's numbers into the form that the tensor cores take, once
//                      for all that compute
#pragma once

#include "mma_numbers.cuh"
#include "slice_ring.cuh"

#if RICCI_BULK_COPIES

template <bool, class Then, class Else> struct type_if { using type = Then; };
template <class Then, class Else> struct type_if<false, Then, Else> { using type = Else; };

template <int Type = x_type> class stationary_tile {
    static constexpr bool is_complex = Type >= 4;
    using mma = mma_of<is_complex ? Type - 2 : Type>;
    using number = typename mma::number;
    static constexpr int parts = is_complex ? 2 : 1, lane_columns = mma::lane_rows, elements = mma::elements,
                         sums = 2 * lane_columns;
    static constexpr bool is_split = mma::elements == 2, keeps_floats = mma::passes > 1 && !x_is_split;
    /// Of sums: a product waits 29 cycles for the one before on the same ones.
    static constexpr int sets = mma::passes > 1 ? 2 : 1;

    // Each product takes 4 * elements steps of the sum. Those of whole groups are shared out so that a lane has
    // neighbors, the rest so that every fourth is a lane's.
    static constexpr int steps = static_cast<int>(k), of_product = 4 * elements, group = 16 * at_least_one(k_apart);
    static constexpr int groups = k_apart > 0 ? steps / group : 0, products_of_group = group / of_product,
                         in_groups = groups * products_of_group;
    static constexpr int products = in_groups + (steps - groups * group + of_product - 1) / of_product;
    static RICCI_FUNCTION int first_step(int product) {
        return product < in_groups ? product / products_of_group * group
                                   : groups * group + (product - in_groups) * of_product;
    }
    static RICCI_FUNCTION int step_of(int product, int element) {
        const int low = threadIdx.x % 4;
        return product < in_groups
                   ? first_step(product) + group / 4 * low + product % products_of_group * elements + element
                   : first_step(product) + 4 * element + low;
    }
    /// Whether all lanes' steps of a product exist.
    static RICCI_FUNCTION bool is_whole(int product) {
        return product < in_groups || first_step(product) + of_product <= steps;
    }

    static constexpr int x_row = along_k[1] ? pitch[1] : 1, x_step = along_k[1] ? 1 : pitch[1];
    static constexpr int y_column = along_k[2] ? pitch[2] : 1, y_step = along_k[2] ? 1 : pitch[2];

    static constexpr int column_tiles = columns_of_slice / mma::rows;
    /// A lane's numbers of Y for one product, word by word in the order in which the instruction's registers have
    /// them.
    template <class Mma> union fragment {
        unsigned word[parts][Mma::words][Mma::elements][Mma::lane_rows];
        sixteen_bytes chunk[parts * Mma::words];
    };

  public:
    /// Of a slice.
    static constexpr int bytes_of_fragments =
        column_tiles * products * 32 * parts * lane_columns * elements * static_cast<int>(sizeof(number));

    /// By `warps` warps, of which this is number `warp`: the fragments of a slice of `own` columns. Whether a lane's
    /// numbers lost bits.
    template <class Mma = mma>
    static RICCI_FUNCTION bool make_fragments(const y_element* y, int own, unsigned char* into, int warp, int warps) {
        static_assert(sizeof(fragment<Mma>) == sizeof(fragment<Mma>::chunk), "whole chunks");
        unsigned least = 0xffffffffu;
        RICCI_UNROLL_2
        for (int f = warp; f < column_tiles * products; f += warps) {
            number left[parts][lane_columns][elements];
            read_left(y, f / products * mma::rows, f % products, own, left, least);
            fragment<Mma> made;
            each_word<Mma>(
                [&](int z, int w, int e, int i) { made.word[z][w][e][i] = Mma::word_of(left[z][i][e], w); });
            RICCI_UNROLL
            for (int c = 0; c < parts * Mma::words; ++c) chunk_at<Mma>(into, f, c) = made.chunk[c];
        }
        return has_lost_bits<mma>(least);
    }

    explicit RICCI_FUNCTION stationary_tile(int warp)
        : row0_(warp % row_warps * tile_m * 8), column0_(warp / row_warps * tile_n * mma::rows) {}

    /// Takes what it needs of slice number `slice` of X, at `x`. The slices of a product come in their order.
    RICCI_FUNCTION void take_x(const x_element* x, int slice) {
        if (slice == 0) least_of_x_ = 0xffffffffu;
        const int high = threadIdx.x % 32 / 4;
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r) {
            // Rows beyond the matrix read its last one.
            const int at = row0_ + 8 * r + high, row = at < m ? at : static_cast<int>(m) - 1;
            if (along_k[1] && row / lines_of_slice != slice) continue;
            const int in_slice = along_k[1] ? row % lines_of_slice : row;
            RICCI_UNROLL
            for (int p = 0; p < products; ++p) {
                if (!along_k[1] && first_step(p) / lines_of_slice != slice) continue;
                const int before = along_k[1] ? 0 : slice * lines_of_slice;
                RICCI_UNROLL
                for (int e = 0; e < elements; ++e) {
                    const int l = step_of(p, e);
                    number v[parts][elements] = {};
                    const x_element* const from = x + in_slice * x_row + (l - before) * x_step;
                    const bool exists = is_whole(p) || l < steps;
                    number_at<x_conjugated>(from, exists, v, e, least_of_x_);
                    RICCI_UNROLL
                    for (int z = 0; z < parts; ++z)
                        if constexpr (keeps_floats)
                            x_[r][p][z][e] = exists ? part_of<x_conjugated>(*from, z) : 0;
                        else
                            x_[r][p][z][e] = v[z][e];
                }
            }
        }
    }

    /// The sums of X*Y for a slice of `own` columns of Y, or its fragments.
    RICCI_FUNCTION void multiply(const y_element* y, unsigned char* fragments, int own) {
        least_ = least_of_x_;
        RICCI_UNROLL
        for (int t = 0; t < tile_n; ++t)
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                RICCI_UNROLL
                for (int s = 0; s < sets * parts * sums; ++s)
                    sums_[s % sets][t][r][s / sets % parts][s / sets / parts] = 0;
        RICCI_UNROLL
        for (int p = 0; p < products; ++p) {
            number left[tile_n][parts][lane_columns][elements];
            RICCI_UNROLL
            for (int t = 0; t < tile_n; ++t)
                if constexpr (has_fragments) {
                    take_fragment<mma>(fragments, (column0_ / mma::rows + t) * products + p, left[t]);
                } else {
                    read_left(y, column0_ + t * mma::rows, p, own, left[t], least_);
                }
            number right[tile_m][parts][elements];
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) read_right(r, p, right[r]);
            add_products<0>(left, right);
            if constexpr (mma::passes > 1) add_products<1>(left, right), add_products<2>(left, right);
        }
        if constexpr (sets > 1) {
            RICCI_UNROLL
            for (int t = 0; t < tile_n; ++t)
                RICCI_UNROLL
                for (int r = 0; r < tile_m; ++r)
                    RICCI_UNROLL
                    for (int s = 0; s < parts * sums; ++s)
                        sums_[0][t][r][s % parts][s / parts] += sums_[1][t][r][s % parts][s / parts];
        }
    }

    /// C (+)= the sums; again(row, column in the slice): such a sum by multiply-adds, for where numbers of Y
    /// (`lost_bits`) or X lost bits.
    template <class Again> RICCI_FUNCTION void update_c(const arguments& a, c_element* c, int own, bool lost_bits,
                                                        const Again& again) const {
        bool is_exact = true;
        if constexpr (is_split)
            is_exact = !__any_sync(0xffffffffu, lost_bits || has_lost_bits<mma>(least_) || is_not_finite());
        RICCI_UNROLL
        for (int t = 0; t < tile_n; ++t) {
            // A tile's are read before the first is stored, behind which the compiler would leave them.
            c_element now[tile_m][sums];
            if constexpr (accumulate)
                each_sum(t, own, [&](int r, int s, int i, int j, bool exists) {
                    if (exists) now[r][s] = c[i + j * pitch[0]];
                });
            each_sum(t, own, [&](int r, int s, int i, int j, bool exists) {
                if (!exists) return;
                compute sum;
                if constexpr (is_complex)
                    sum = {sums_[0][t][r][0][s], sums_[0][t][r][1][s]};
                else
                    sum = sums_[0][t][r][0][s];
                if constexpr (is_split)
                    if (!is_exact) sum = again(i, j);
                update(a, now[r][s], sum);
                c[i + j * pitch[0]] = now[r][s];
            });
        }
    }

  private:
    /// f(the sum's place in registers, its row and column in the slice, whether it exists) for a tile of columns.
    template <class F> RICCI_FUNCTION void each_sum(int t, int own, const F& f) const {
        const int high = threadIdx.x % 32 / 4, low = threadIdx.x % 4;
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int s = 0; s < sums; ++s) {
                const int i = row0_ + 8 * r + 2 * low + s % 2, j = column0_ + t * mma::rows + 8 * (s / 2) + high;
                f(r, s, i, j, (m % (8 * tile_m) == 0 || i < m) && j < own);
            }
    }

    template <class Mma, class F> static RICCI_FUNCTION void each_word(const F& f) {
        RICCI_UNROLL
        for (int z = 0; z < parts; ++z)
            RICCI_UNROLL
            for (int w = 0; w < Mma::words; ++w)
                RICCI_UNROLL
                for (int e = 0; e < elements; ++e)
                    RICCI_UNROLL
                    for (int i = 0; i < lane_columns; ++i) f(z, w, e, i);
    }
    /// This lane's chunk c of fragment f.
    template <class Mma> static RICCI_FUNCTION sixteen_bytes& chunk_at(unsigned char* fragments, int f, int c) {
        return reinterpret_cast<sixteen_bytes*>(
            fragments)[(f * parts * Mma::words + c) * 32 + static_cast<int>(threadIdx.x % 32)];
    }
    template <class Mma> static RICCI_FUNCTION void take_fragment(unsigned char* fragments, int f,
                                                                  number (&left)[parts][lane_columns][elements]) {
        fragment<Mma> made;
        RICCI_UNROLL
        for (int c = 0; c < parts * Mma::words; ++c) made.chunk[c] = chunk_at<Mma>(fragments, f, c);
        RICCI_UNROLL
        for (int z = 0; z < parts; ++z)
            RICCI_UNROLL
            for (int n = 0; n < lane_columns * elements; ++n) {
                unsigned words[Mma::words];
                RICCI_UNROLL
                for (int w = 0; w < Mma::words; ++w) words[w] = made.word[z][w][n / lane_columns][n % lane_columns];
                left[z][n % lane_columns][n / lane_columns] = Mma::of_words(words);
            }
    }

    template <bool Conjugated, class Element> static RICCI_FUNCTION void
    number_at(const Element* from, bool exists, number (&into)[parts][elements], int element, unsigned& least) {
        number v[parts] = {};
        if (exists) read_parts<mma, Conjugated>(*from, v, least);
        RICCI_UNROLL
        for (int z = 0; z < parts; ++z) into[z][element] = v[z];
    }

    /// A lane's numbers of Y for a product, of the tile of columns from `column0` on; columns beyond the slice are
    /// its last one.
    static RICCI_FUNCTION void read_left(const y_element* y, int column0, int product, int own,
                                         number (&left)[parts][lane_columns][elements], unsigned& least) {
        RICCI_UNROLL
        for (int i = 0; i < lane_columns; ++i) {
            const int at = column0 + 8 * i + static_cast<int>(threadIdx.x % 32 / 4),
                      column = (at < own ? at : own - 1) * y_column;
            RICCI_UNROLL
            for (int e = 0; e < elements; ++e) {
                const int l = step_of(product, e);
                number v[parts][elements] = {};
                number_at<y_conjugated>(y + column + l * y_step, is_whole(product) || l < steps, v, e, least);
                RICCI_UNROLL
                for (int z = 0; z < parts; ++z) left[z][i][e] = v[z][e];
            }
        }
    }

    /// A real or imaginary part.
    template <bool Conjugated, class Element> static RICCI_FUNCTION float part_of(const Element& from, int z) {
        if constexpr (is_complex)
            return z == 0 ? from.re : Conjugated ? -from.im : from.im;
        else
            return static_cast<float>(from);
    }

    /// X's numbers for a product. As if new, where they are split each time: else all would be once, and take as many
    /// registers.
    RICCI_FUNCTION void read_right(int r, int p, number (&right)[parts][elements]) const {
        unsigned none = 0xffffffffu;
        RICCI_UNROLL
        for (int z = 0; z < parts; ++z)
            RICCI_UNROLL
            for (int e = 0; e < elements; ++e)
                if constexpr (keeps_floats)
                    right[z][e] = mma::read(
                        float_of(static_cast<unsigned>(as_if_new(static_cast<int>(bits_of(x_[r][p][z][e]))))), none);
                else
                    right[z][e] = x_[r][p][z][e];
    }

    template <int Pass> RICCI_FUNCTION void add_products(const number (&left)[tile_n][parts][lane_columns][elements],
                                                         const number (&right)[tile_m][parts][elements]) {
        RICCI_UNROLL
        for (int t = 0; t < tile_n; ++t) {
            number minus[lane_columns][elements];
            if constexpr (is_complex) {
                RICCI_UNROLL
                for (int i = 0; i < lane_columns * elements; ++i)
                    minus[i / elements][i % elements] = mma::negative(left[t][1][i / elements][i % elements]);
            }
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) {
                auto& d = sums_[Pass / 2][t][r]; // the largest terms, and the others
                mma::template multiply<Pass>(d[0], left[t][0], right[r][0]);
                if constexpr (is_complex) {
                    mma::template multiply<Pass>(d[1], left[t][0], right[r][1]);
                    mma::template multiply<Pass>(d[0], minus, right[r][1]);
                    mma::template multiply<Pass>(d[1], left[t][1], right[r][0]);
                }
            }
        }
    }

    RICCI_FUNCTION bool is_not_finite() const {
        constexpr int of_tile = parts * sums;
        return has_nan_or_infinity<tile_n * tile_m * of_tile>([&](int e) {
            return sums_[0][e / of_tile / tile_m][e / of_tile % tile_m][e % parts][e % of_tile / parts];
        });
    }

    int row0_, column0_;
    unsigned least_of_x_ = 0xffffffffu, least_ = 0xffffffffu;
    typename mma::sum sums_[sets][tile_n][tile_m][parts][sums];
    typename type_if<keeps_floats, float, number>::type x_[tile_m][products][parts][elements];
};

#endif
