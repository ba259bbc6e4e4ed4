// stationary_tile: what a warp of batched_stationary computes: some rows of C from those rows of X, which it keeps in
// registers, and slices of columns of Y in shared memory. C^T = Y^T X^T is computed, for a lane's two sums to be
// neighbors in a column of C.
//
// Constants: slice_stream.cuh's, mma_numbers.cuh's, and
//   tile_m             tiles of 8 rows a warp
//   tile_n             tiles of columns a warp, each of as many as the tensor cores' product has rows
//   row_warps          warps that share the rows; as many more take other columns of a slice
//   k_apart            as batched_mma.cuh's
//   x_is_split         whether X is kept as pairs of TF32 numbers, or as f32 to be split each time
//   has_fragments      whether warps of their own bring Y's numbers into the form that the tensor cores take, once
//                      for all that compute
#pragma once

#include "mma_numbers.cuh"
#include "slice_stream.cuh"

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
    /// Of sums: a real and an imaginary part; of f32, since a product waits 29 cycles for the one before on the same
    /// ones, small terms and large ones, or each of a complex number's four products.
    static constexpr int sets = parts * (mma::passes > 1 ? 2 : 1);

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
    /// The first lane's; and how many steps beyond are those of lane `low` of each four.
    static RICCI_FUNCTION int first_lane_step(int product, int element) {
        return first_step(product) +
               (product < in_groups ? product % products_of_group * elements + element : 4 * element);
    }
    static RICCI_FUNCTION int lane_steps(int product, int low) { return product < in_groups ? group / 4 * low : low; }
    static RICCI_FUNCTION int step_of(int product, int element) {
        return first_lane_step(product, element) + lane_steps(product, threadIdx.x % 4);
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
        RICCI_UNROLL
        for (int t = 0; t < column_tiles; ++t) {
            const lane_columns_of_y from(y, t * mma::rows, own);
            sixteen_bytes* const to = first_chunk<Mma>(into, t);
            RICCI_UNROLL_4
            for (int p = warp; p < products; p += warps) {
                number left[parts][lane_columns][elements];
                read_left(from, p, left, least);
                fragment<Mma> made;
                each_word<Mma>(
                    [&](int z, int w, int e, int i) { made.word[z][w][e][i] = Mma::word_of(left[z][i][e], w); });
                RICCI_UNROLL
                for (int c = 0; c < chunks<Mma>; ++c) to[(p * chunks<Mma> + c) * 32] = made.chunk[c];
            }
        }
        return has_lost_bits<mma>(least);
    }

    explicit RICCI_FUNCTION stationary_tile(int warp)
        : row0_(warp % row_warps * tile_m * 8), column0_(warp / row_warps * tile_n * mma::rows) {}

    /// Takes what it needs of slice number `slice` of X, at `x`. The slices of a product come in their order.
    RICCI_FUNCTION void take_x(const x_element* x, int slice) {
        if (slice == 0) least_of_x_ = 0xffffffffu;
        const int high = threadIdx.x % 32 / 4, low = threadIdx.x % 4;
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r) {
            // Rows beyond the matrix read its last one.
            const int at = row0_ + 8 * r + high, row = at < m ? at : static_cast<int>(m) - 1;
            if (along_k[1] && row / lines_of_slice != slice) continue;
            const x_element* const row_at = x + (along_k[1] ? row % lines_of_slice : row) * x_row;
            RICCI_UNROLL
            for (int p = 0; p < products; ++p) {
                if (!along_k[1] && first_step(p) / lines_of_slice != slice) continue;
                const int before = along_k[1] ? 0 : slice * lines_of_slice;
                const x_element* const lane = row_at + lane_steps(p, low) * x_step;
                RICCI_UNROLL
                for (int e = 0; e < elements; ++e) {
                    number v[parts][elements] = {};
                    const x_element* const from = lane + (first_lane_step(p, e) - before) * x_step;
                    const bool exists = is_whole(p) || step_of(p, e) < steps;
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
        for (int e = 0; e < sets * tile_n * tile_m * sums; ++e)
            sums_[e / sums / tile_m / tile_n][e / sums / tile_m % tile_n][e / sums % tile_m][e % sums] = 0;
        if constexpr (has_fragments) {
            const sixteen_bytes* const from = first_chunk<mma>(fragments, column0_ / mma::rows);
            add_all([&](int t, int p, number (&left)[parts][lane_columns][elements]) {
                take_fragment<mma>(from + (t * products + p) * chunks<mma> * 32, left);
            });
        } else {
            lane_columns_of_y from[tile_n];
            RICCI_UNROLL
            for (int t = 0; t < tile_n; ++t) from[t] = lane_columns_of_y(y, column0_ + t * mma::rows, own);
            add_all([&](int t, int p, number (&left)[parts][lane_columns][elements]) {
                read_left(from[t], p, left, least_);
            });
        }
        if constexpr (sets > parts) {
            RICCI_UNROLL
            for (int e = 0; e < tile_n * tile_m * sums; ++e) add_sets(e / sums / tile_m, e / sums % tile_m, e % sums);
        }
    }

    /// C (+)= the sums; again(row, column in the slice): such a sum by multiply-adds, for where numbers of Y
    /// (`lost_bits`) or X lost bits.
    template <class Again> RICCI_FUNCTION void update_c(const arguments& a, c_element* c, int own, bool lost_bits,
                                                        const Again& again) const {
        if constexpr (is_split)
            if (__any_sync(0xffffffffu, lost_bits || has_lost_bits<mma>(least_) || is_not_finite())) {
                RICCI_UNROLL_ONCE
                for (int e = 0; e < tile_n * tile_m * sums; ++e) {
                    const place at = place_of(e / sums / tile_m, e / sums % tile_m, e % sums, own);
                    if (at.exists) update(a, c[at.row + at.column * pitch[0]], again(at.row, at.column));
                }
                return;
            }
        RICCI_UNROLL
        for (int t = 0; t < tile_n; ++t) {
            // A tile's are read before the first is stored, behind which the compiler would leave them.
            c_element now[tile_m][sums];
            if constexpr (accumulate)
                each_place(t, own, [&](int r, int s, const place& at) {
                    // else it were kept for the next slice
                    now[r][s] = at.exists ? c[at.row + at.column * pitch[0]] : c_element{};
                });
            each_place(t, own, [&](int r, int s, const place& at) {
                if (!at.exists) return;
                compute sum;
                if constexpr (is_complex)
                    sum = {sums_[0][t][r][s], sums_[1][t][r][s]};
                else
                    sum = sums_[0][t][r][s];
                update(a, now[r][s], sum);
                c[at.row + at.column * pitch[0]] = now[r][s];
            });
        }
    }

  private:
    struct place {
        int row, column; ///< the latter in the slice
        bool exists;
    };
    /// Of a lane's sum s in tile (r, t).
    RICCI_FUNCTION place place_of(int t, int r, int s, int own) const {
        const int high = threadIdx.x % 32 / 4, low = threadIdx.x % 4;
        const int i = row0_ + r * 8 + 2 * low + s % 2, j = column0_ + t * mma::rows + 8 * (s / 2) + high;
        return {i, j, (m % (8 * tile_m) == 0 || i < m) && j < own};
    }
    /// f(r, s, its place) for a tile of columns.
    template <class F> RICCI_FUNCTION void each_place(int t, int own, const F& f) const {
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int s = 0; s < sums; ++s) f(r, s, place_of(t, r, s, own));
    }

    /// Adds all products; left(tile of columns, product, its numbers).
    template <class Left> RICCI_FUNCTION void add_all(const Left& take_left) {
        RICCI_UNROLL
        for (int p = 0; p < products; ++p) {
            number left[tile_n][parts][lane_columns][elements], right[tile_m][parts][elements];
            RICCI_UNROLL
            for (int t = 0; t < tile_n; ++t) take_left(t, p, left[t]);
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) read_right(r, p, right[r]);
            add_products<0>(left, right);
            if constexpr (mma::passes > 1) add_products<1>(left, right), add_products<2>(left, right);
        }
    }

    /// One sum, in set 0, or its real and imaginary part, in 0 and 1.
    RICCI_FUNCTION void add_sets(int t, int r, int s) {
        if constexpr (is_complex) {
            sums_[0][t][r][s] -= sums_[1][t][r][s];
            sums_[1][t][r][s] = sums_[2][t][r][s] + sums_[3][t][r][s];
        } else {
            sums_[0][t][r][s] += sums_[1][t][r][s];
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
    /// Of 16 bytes, that a lane has of a fragment.
    template <class Mma> static constexpr int chunks = parts * Mma::words;
    /// This lane's first of a tile of columns. The others follow 32 beyond one another.
    template <class Mma> static RICCI_FUNCTION sixteen_bytes* first_chunk(unsigned char* fragments, int tile) {
        return reinterpret_cast<sixteen_bytes*>(fragments) + tile * products * chunks<Mma> * 32 +
               static_cast<int>(threadIdx.x % 32);
    }
    template <class Mma> static RICCI_FUNCTION void take_fragment(const sixteen_bytes* from,
                                                                  number (&left)[parts][lane_columns][elements]) {
        fragment<Mma> made;
        RICCI_UNROLL
        for (int c = 0; c < chunks<Mma>; ++c) made.chunk[c] = from[c * 32];
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

    /// Where a lane's columns of Y begin, in a tile from `column0` on; columns beyond the slice are its last one.
    struct lane_columns_of_y {
        const y_element* at[lane_columns];
        lane_columns_of_y() = default;
        RICCI_FUNCTION lane_columns_of_y(const y_element* y, int column0, int own) {
            RICCI_UNROLL
            for (int i = 0; i < lane_columns; ++i) {
                const int column = column0 + 8 * i + static_cast<int>(threadIdx.x % 32 / 4);
                at[i] = y + (column < own ? column : own - 1) * y_column;
            }
        }
    };

    /// A lane's numbers of Y for a product.
    static RICCI_FUNCTION void read_left(const lane_columns_of_y& from, int product,
                                         number (&left)[parts][lane_columns][elements], unsigned& least) {
        const int low = threadIdx.x % 4;
        RICCI_UNROLL
        for (int i = 0; i < lane_columns; ++i)
            RICCI_UNROLL
            for (int e = 0; e < elements; ++e) {
                number v[parts][elements] = {};
                const y_element* const lane = from.at[i] + lane_steps(product, low) * y_step;
                number_at<y_conjugated>(lane + first_lane_step(product, e) * y_step,
                                        is_whole(product) || step_of(product, e) < steps, v, e, least);
                RICCI_UNROLL
                for (int z = 0; z < parts; ++z) left[z][i][e] = v[z][e];
            }
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
        for (int t = 0; t < tile_n; ++t)
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) {
                if constexpr (sets > 2) {
                    mma::template multiply<Pass>(sums_[0][t][r], left[t][0], right[r][0]);
                    mma::template multiply<Pass>(sums_[1][t][r], left[t][1], right[r][1]);
                    mma::template multiply<Pass>(sums_[2][t][r], left[t][0], right[r][1]);
                    mma::template multiply<Pass>(sums_[3][t][r], left[t][1], right[r][0]);
                } else if constexpr (is_complex) {
                    number minus[elements];
                    RICCI_UNROLL
                    for (int e = 0; e < elements; ++e) minus[e] = mma::negative(right[r][1][e]);
                    mma::template multiply<Pass>(sums_[0][t][r], left[t][0], right[r][0]);
                    mma::template multiply<Pass>(sums_[1][t][r], left[t][0], right[r][1]);
                    mma::template multiply<Pass>(sums_[0][t][r], left[t][1], minus);
                    mma::template multiply<Pass>(sums_[1][t][r], left[t][1], right[r][0]);
                } else {
                    mma::template multiply<Pass>(sums_[Pass / 2][t][r], left[t][0], right[r][0]);
                }
            }
    }

    RICCI_FUNCTION bool is_not_finite() const {
        constexpr int of_set = tile_n * tile_m * sums;
        return has_nan_or_infinity<parts * of_set>([&](int e) {
            return sums_[e / of_set][e / sums / tile_m % tile_n][e / sums % tile_m][e % sums];
        });
    }

    int row0_, column0_;
    unsigned least_of_x_ = 0xffffffffu, least_ = 0xffffffffu;
    typename mma::sum sums_[sets][tile_n][tile_m][sums];
    typename type_if<keeps_floats, float, number>::type x_[tile_m][products][parts][elements];
};

#endif
