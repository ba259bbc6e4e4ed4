// batched_mma: multiplies matrices in shared memory by the tensor cores, for operands of one type. Each warp computes
// a tile of one product.
//   f64, half, bfloat16    as they are, the latter summed in f32
//   f32                    three TF32 products: each number is split into two of 11 bits, a = high + low, and
//                          low*low, below the rounding of f32, is left out; or one product of numbers rounded to TF32
//   c64, c128              four real products each
// Constants:
//   rows_of_block, columns_of_block    of C, m and n or fewer
//   row[3], column[3]  elements from one row, column to the next in shared memory, of C, X and Y
//   c_transposed       whether C^T = Y^T X^T is computed, for a lane's two elements to be neighbors in memory
//   tile_m, tile_n     the instruction's tiles a warp computes, of the rows and columns of what is computed
//   columns_apart      whether the columns of a warp's tiles take turns, two at a time, so that those that are stored
//                      at once lie 2 * tile_n apart; with fragments 1 for a factor realigned for that (realign.cuh)
//   k_apart            of 16 steps of the sum a lane takes four: 0 every fourth, 1 neighbors; 2 and 4: of 32 and 64
//                      steps it takes 8 and 16 neighbors, four at a time. Which of them is free of bank conflicts
//                      depends on the leading dimension.
//   k_unrolled         blocks of 16 steps unrolled at once
//   always_aligned     whether lines of X and Y start at multiples of 16 bytes whatever the pointers; a span's start
//                      where its memory does
//   fragments          how a lane's numbers come from shared memory: 0 one by one; 1 by load_matrices, 16-bit types
//                      whose lines start at multiples of 16 bytes; 2 four neighbors in k at once (k_apart 1), lines
//                      along k that start at multiples of 16 bytes; 3 the same from boxes (ptx_box.cuh), of which a
//                      lane takes a quarter of each line, numbers of 4 and 8 bytes. The steps are a multiple of 8
//                      with 1, of 16 with 2 and of a box's with 3, and a line is as long as whole tiles of 8
#pragma once

#include "mma_numbers.cuh"
#include "product.hpp"

/// Four elements that one access reads where they take 16 bytes, two where 32.
template <class Element> struct alignas(4 * sizeof(Element) < 16 ? 4 * sizeof(Element) : 16) four_neighbors {
    Element e[4];
};
template <class Element> struct alignas(16) two_neighbors {
    Element e[2];
};
template <class Element>
RICCI_FUNCTION four_neighbors<Element> four_at(const Element* first) {
    return *reinterpret_cast<const four_neighbors<Element>*>(first);
}

/// A lane's four number `four` of a box's line: of its two pieces, which begin at `piece`.
template <class Element>
RICCI_FUNCTION four_neighbors<Element> four_in_box(const Element* line, const int (&piece)[2], int four) {
    constexpr int of_piece = 16 / sizeof(Element);
    if constexpr (of_piece == 4) return four_at(line + (four == 0 ? piece[0] : piece[1]));
    four_neighbors<Element> out;
    RICCI_UNROLL
    for (int p = 0; p < 2; ++p) {
        const auto two = *reinterpret_cast<const two_neighbors<Element>*>(line + piece[p]);
        out.e[2 * p] = two.e[0], out.e[2 * p + 1] = two.e[1];
    }
    return out;
}

template <int Type = x_type> // a template, so that only the kind of tile in use is compiled
class mma_tile {
    static constexpr bool is_complex = Type >= 4;
    using mma = mma_of<is_complex ? Type - 2 : Type>;
    using number = typename mma::number;
    static constexpr int parts = is_complex ? 2 : 1, lane_rows = mma::lane_rows, elements = mma::elements;
    static constexpr int rows = c_transposed ? columns_of_block : rows_of_block,
                         columns = c_transposed ? rows_of_block : columns_of_block;
    // Strides of the left factor (row, k) and the right one (k, column).
    static constexpr int l_row = c_transposed ? column[2] : row[1], l_k = c_transposed ? row[2] : column[1];
    static constexpr int r_column = c_transposed ? row[1] : column[2], r_k = c_transposed ? column[1] : row[2];
    static constexpr bool l_conjugated = c_transposed ? y_conjugated : x_conjugated,
                          r_conjugated = c_transposed ? x_conjugated : y_conjugated;
    static constexpr int row_tiles = (rows + mma::rows - 1) / mma::rows, column_tiles = (columns + 7) / 8;
    static constexpr int row_parts = (row_tiles + tile_m - 1) / tile_m,
                         column_parts = (column_tiles + tile_n - 1) / tile_n;

  public:
    static constexpr int threads = 32;                     ///< a tile
    static constexpr int count = row_parts * column_parts; ///< tiles of a product
    /// Whether a sum that is not finite may have to be another: splits of infinity are NaN, the largest numbers are
    /// rounded to infinity, and finish gives sums that lost bits as NaN.
    static constexpr bool is_split = mma::elements == 2;

    explicit RICCI_FUNCTION mma_tile(int number)
        : row0_(number % row_parts * tile_m * mma::rows), column0_(number / row_parts * tile_n * 8) {
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c)
                RICCI_UNROLL
                for (int i = 0; i < parts * 2 * lane_rows; ++i) sums_[r][c][i % parts][i / parts] = 0;
    }

    /// Adds X*Y over Steps of the sum.
    template <int Steps> RICCI_FUNCTION void add(const x_element* x, const y_element* y) {
        const x_element* const left = c_transposed ? reinterpret_cast<const x_element*>(y) : x;
        const x_element* const right = c_transposed ? x : reinterpret_cast<const x_element*>(y);
        static_assert(fragments == 0 || Steps % (fragments == 1 ? 8 : 16) == 0,
                      "nothing masks what is behind the sum");
        if constexpr (fragments == 1) {
            const auto misaligned =
                (reinterpret_cast<unsigned long long>(x) | reinterpret_cast<unsigned long long>(y)) % 16;
            if (always_aligned || misaligned == 0) return add_by_matrices<Steps>(left, right);
        }
        if constexpr (fragments == 3) add_by_boxes<Steps>(left, right);
        else if constexpr (fragments != 1 || !always_aligned) add_by_elements<Steps>(left, right);
    }

    /// Adds the sums of other steps of the same tile, by additions.
    RICCI_FUNCTION void add_sums(const mma_tile& of_others) {
        least_ = of_others.least_ < least_ ? of_others.least_ : least_;
        each_tile([&](int r, int c) {
            RICCI_UNROLL
            for (int i = 0; i < parts * 2 * lane_rows; ++i)
                sums_[r][c][i % parts][i / parts] += of_others.sums_[r][c][i % parts][i / parts];
        });
    }

  private:
    template <int Steps> RICCI_FUNCTION void add_by_matrices(const x_element* left, const x_element* right) {
        const int lane = threadIdx.x % 32, in_matrix = lane % 8, matrix = lane / 8;
        // A's matrices: rows 0 and 8, then k 8; B's: k 0 and 8, then the next tile's columns. Tiles beyond the
        // product read its last; columns apart that do not exist are whatever lies there, and are not stored.
        constexpr int all_columns = columns_apart ? column_parts * tile_n * 8 : columns;
        const auto line = [](int at, int extent) { return at < extent ? at : extent - 1; };
        const auto tile = [](int at, int extent) { return at < extent ? at : (extent - 1) / 8 * 8; };
        const x_element* l_at[tile_m];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r) {
            const int at = row0_ + r * 16 + matrix % 2 * 8, in_k = matrix / 2 * 8;
            l_at[r] = l_k == 1 ? left + line(at + in_matrix, rows) * l_row + in_k
                               : left + tile(at, rows) + (in_k + in_matrix) * l_k;
        }
        constexpr int pairs = (tile_n + 1) / 2;
        const x_element* r_at[pairs];
        RICCI_UNROLL
        for (int c = 0; c < pairs; ++c) {
            const int at = column0_ + c * 16 + matrix / 2 * 8, in_k = matrix % 2 * 8;
            r_at[c] = r_k == 1 ? right + line(at + in_matrix, all_columns) * r_column + in_k
                               : right + tile(at, all_columns) + (in_k + in_matrix) * r_k;
        }
        RICCI_UNROLL_K
        for (int base = 0; base + 16 <= Steps; base += 16) {
            unsigned lv[tile_m][4], rv[pairs][4];
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) load_matrices<4, l_k != 1>(lv[r], l_at[r] + base * l_k);
            RICCI_UNROLL
            for (int c = 0; c < pairs; ++c) load_matrices<4, r_k != 1>(rv[c], r_at[c] + base * r_k);
            each_tile([&](int r, int c) {
                multiply_16_bits(sums_[r][c][0], lv[r], {rv[c / 2][c % 2 * 2], rv[c / 2][c % 2 * 2 + 1]});
            });
        }
        if constexpr (Steps % 16 != 0) { // 8: lanes whose k is beyond give the address of others'
            constexpr int base = Steps / 16 * 16;
            unsigned lv[tile_m][4], rv[pairs][4];
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                load_matrices<4, l_k != 1>(lv[r], l_at[r] + (base - matrix / 2 * 8) * l_k);
            RICCI_UNROLL
            for (int c = 0; c < pairs; ++c)
                load_matrices<4, r_k != 1>(rv[c], r_at[c] + (base - matrix % 2 * 8) * r_k);
            each_tile([&](int r, int c) {
                multiply_16_bits(sums_[r][c][0], {lv[r][0], lv[r][1]}, rv[c / 2][c % 2 * 2]);
            });
        }
    }

    /// Of a box's line a lane takes two pieces of 16 bytes, neighbors in k: those of eight lanes, of two rows,
    /// lie on different banks.
    template <int Steps> RICCI_FUNCTION void add_by_boxes(const x_element* left, const x_element* right) {
        constexpr int size = sizeof(x_element), of_line = 128 / size, of_piece = 16 / size,
                      fours = of_piece / 2; ///< that a lane has of a line
        constexpr int l_box = (rows + 7) / 8 * 8 * of_line, r_box = (columns + 7) / 8 * 8 * of_line;
        const int lane = threadIdx.x % 32, high = lane / 4, low = lane % 4;
        // Rows beyond the matrix are those that lie a multiple of eight before.
        const auto inside = [](int at, int extent) { return at < extent ? at : at - (at - extent + 8) / 8 * 8; };
        int row_at[tile_m][lane_rows], column_at[tile_n];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i)
                row_at[r][i] = inside(row0_ + r * mma::rows + 8 * i + high, rows) * of_line;
        RICCI_UNROLL
        for (int c = 0; c < tile_n; ++c) column_at[c] = inside(column0_ + 8 * c + high, columns) * of_line;
        const int piece[2] = {(2 * low ^ high) * of_piece, ((2 * low + 1) ^ high) * of_piece};
        RICCI_UNROLL_K
        for (int block = 0; block < Steps / of_line * fours; ++block) { // of 16 steps
            const int line = block / fours, four = block % fours;
            four_neighbors<x_element> l_four[tile_m][lane_rows], r_four[tile_n];
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                RICCI_UNROLL
                for (int i = 0; i < lane_rows; ++i)
                    l_four[r][i] = four_in_box(left + line * l_box + row_at[r][i], piece, four);
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c)
                r_four[c] = four_in_box(right + line * r_box + column_at[c], piece, four);
            add_fours(l_four, r_four);
        }
    }

    template <class F> static RICCI_FUNCTION void each_tile(const F& f) {
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) f(r, c);
    }
    static RICCI_FUNCTION void multiply_16_bits(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
        if constexpr (Type == 0) mma_f16(d, a, b);
        else mma_bf16(d, a, b);
    }
    static RICCI_FUNCTION void multiply_16_bits(float (&d)[4], const unsigned (&a)[2], unsigned b) {
        if constexpr (Type == 0) mma_f16(d, a, b);
        else mma_bf16(d, a, b);
    }

    template <int Steps> RICCI_FUNCTION void add_by_elements(const x_element* left, const x_element* right) {
        const int lane = threadIdx.x % 32, high = lane / 4, low = lane % 4;
        // Rows and columns beyond the matrix read its last one; beyond the sum both factors are zero.
        int row_at[tile_m][lane_rows], column_at[tile_n];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i) {
                const int at = row0_ + r * mma::rows + 8 * i + high;
                row_at[r][i] = (at < rows ? at : rows - 1) * l_row;
            }
        RICCI_UNROLL
        for (int c = 0; c < tile_n; ++c) {
            const int at = column_of(c, high);
            column_at[c] = (at < columns ? at : columns - 1) * r_column;
        }
        constexpr int together = 16 * at_least_one(k_apart),
                      in_groups = k_apart > 1 ? Steps / together * together : 0;
        if constexpr (in_groups > 0) {
            RICCI_UNROLL_K
            for (int base = 0; base < in_groups; base += 16)
                add_block<Steps, block_kind::of_group>(left, right, row_at, column_at, base);
        }
        RICCI_UNROLL_K
        for (int base = in_groups; base + 16 <= Steps; base += 16)
            add_block<Steps, block_kind::whole>(left, right, row_at, column_at, base);
        if constexpr (Steps % 16 != 0)
            add_block<Steps, block_kind::rest>(left, right, row_at, column_at, Steps / 16 * 16);
    }

    /// 16 steps of the sum: of 16 * k_apart, from which a lane takes neighbors; neighbors; or fewer, the last ones.
    enum class block_kind : unsigned char { of_group, whole, rest };

    template <int Steps, block_kind Kind>
    RICCI_FUNCTION void add_block(const x_element* left, const x_element* right,
                                  const int (&row_at)[tile_m][lane_rows], const int (&column_at)[tile_n], int base) {
        const int low = threadIdx.x % 4;
        if constexpr (fragments == 2) {
            four_neighbors<x_element> l_four[tile_m][lane_rows], r_four[tile_n];
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                RICCI_UNROLL
                for (int i = 0; i < lane_rows; ++i) l_four[r][i] = four_at(left + row_at[r][i] + base + 4 * low);
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) r_four[c] = four_at(right + column_at[c] + base + 4 * low);
            return add_fours(l_four, r_four);
        }
        constexpr bool is_rest = Kind == block_kind::rest;
        constexpr int group = Kind == block_kind::of_group ? 16 * k_apart : 16, rest = Steps % 16;
        const int first_of_lane = base / group * group + base % group / 4 + (k_apart > 0 ? group / 4 * low : low);
        RICCI_UNROLL
        for (int first = 0; first < 4; first += elements) {
            if (is_rest && (k_apart > 0 ? first : 4 * first) >= rest) break;
            number lv[tile_m][parts][lane_rows][elements], rv[tile_n][parts][elements];
            RICCI_UNROLL
            for (int e = 0; e < elements; ++e) {
                const int l = first_of_lane + (k_apart > 0 ? first + e : 4 * (first + e));
                const bool inside = !is_rest || l < Steps;
                RICCI_UNROLL
                for (int r = 0; r < tile_m; ++r)
                    RICCI_UNROLL
                    for (int i = 0; i < lane_rows; ++i) {
                        number v[parts] = {};
                        if (inside) read_parts<mma, l_conjugated>(left[row_at[r][i] + l * l_k], v, least_);
                        RICCI_UNROLL
                        for (int z = 0; z < parts; ++z) lv[r][z][i][e] = v[z];
                    }
                RICCI_UNROLL
                for (int c = 0; c < tile_n; ++c) {
                    number v[parts] = {};
                    if (inside) read_parts<mma, r_conjugated>(right[column_at[c] + l * r_k], v, least_);
                    RICCI_UNROLL
                    for (int z = 0; z < parts; ++z) rv[c][z][e] = v[z];
                }
            }
            add_all_passes(lv, rv);
        }
    }

    /// Four steps of the sum a lane.
    RICCI_FUNCTION void add_fours(const four_neighbors<x_element> (&left)[tile_m][lane_rows],
                                  const four_neighbors<x_element> (&right)[tile_n]) {
        RICCI_UNROLL
        for (int first = 0; first < 4; first += elements) {
            number lv[tile_m][parts][lane_rows][elements], rv[tile_n][parts][elements];
            RICCI_UNROLL
            for (int e = 0; e < elements; ++e) {
                number v[parts];
                RICCI_UNROLL
                for (int r = 0; r < tile_m * lane_rows; ++r) {
                    read_parts<mma, l_conjugated>(left[r / lane_rows][r % lane_rows].e[first + e], v, least_);
                    RICCI_UNROLL
                    for (int z = 0; z < parts; ++z) lv[r / lane_rows][z][r % lane_rows][e] = v[z];
                }
                RICCI_UNROLL
                for (int c = 0; c < tile_n; ++c) {
                    read_parts<mma, r_conjugated>(right[c].e[first + e], v, least_);
                    RICCI_UNROLL
                    for (int z = 0; z < parts; ++z) rv[c][z][e] = v[z];
                }
            }
            add_all_passes(lv, rv);
        }
    }

    RICCI_FUNCTION void add_all_passes(const number (&lv)[tile_m][parts][lane_rows][elements],
                                       const number (&rv)[tile_n][parts][elements]) {
        add_tiles<0>(lv, rv);
        if constexpr (mma::passes > 1) add_tiles<1>(lv, rv), add_tiles<2>(lv, rv);
    }

    template <int Pass>
    RICCI_FUNCTION void add_tiles(const number (&lv)[tile_m][parts][lane_rows][elements],
                                  const number (&rv)[tile_n][parts][elements]) {
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) {
                mma::template multiply<Pass>(sums_[r][c][0], lv[r][0], rv[c][0]);
                if constexpr (is_complex) {
                    number minus[lane_rows][elements];
                    RICCI_UNROLL
                    for (int i = 0; i < lane_rows * elements; ++i)
                        minus[i / elements][i % elements] = mma::negative(lv[r][1][i / elements][i % elements]);
                    mma::template multiply<Pass>(sums_[r][c][0], minus, rv[c][1]);
                    mma::template multiply<Pass>(sums_[r][c][1], lv[r][0], rv[c][1]);
                    mma::template multiply<Pass>(sums_[r][c][1], lv[r][1], rv[c][0]);
                }
            }
    }

  public:
    /// store(row, column, sum) for each element.
    template <class Store> RICCI_FUNCTION void finish(const Store& store) {
        if constexpr (is_split)
            if (__any_sync(0xffffffffu, has_lost_bits<mma>(least_))) sums_become_nan();
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c)
                RICCI_UNROLL
                for (int i = 0; i < 2 * lane_rows; ++i) {
                    const place at = place_of(r, c, i);
                    if (!at.exists) continue;
                    if constexpr (is_complex)
                        store(at.row, at.column, typename type_of<Type>::type{sums_[r][c][0][i], sums_[r][c][1][i]});
                    else store(at.row, at.column, sums_[r][c][0][i]);
                }
    }

    /// The same, but where sums are not what multiply-adds give, store(row, column, again(row, column)).
    template <class Store, class Again> RICCI_FUNCTION void finish(const Store& store, const Again& again) {
        if (!stores_again(store, again)) finish(store);
    }

    /// Updates c(row, column) for each, which is in shared memory. Of 2 bytes, where that is most of the work,
    /// several are read before the first is stored, behind which the compiler would leave them.
    template <class C, class Again>
    RICCI_FUNCTION void update_c(const arguments& a, const C& c, const Again& again) {
        const auto update_one = [&](int i, int j, compute sum) { update(a, c(i, j), sum); };
        if (stores_again(update_one, again)) return;
        if constexpr (sizeof(c_element) > 2) finish(update_one);
        else update_short_c(a, c);
    }

  private:
    /// Whether sums were not what multiply-adds give, and have been made and stored again.
    template <class Store, class Again> RICCI_FUNCTION bool stores_again(const Store& store, const Again& again) {
        if constexpr (is_split)
            if (__any_sync(0xffffffffu, has_lost_bits<mma>(least_) || is_not_finite())) {
                RICCI_UNROLL_ONCE
                for (int e = 0; e < tile_m * tile_n * 2 * lane_rows; ++e) {
                    const place at =
                        place_of(e / (2 * lane_rows) / tile_n, e / (2 * lane_rows) % tile_n, e % (2 * lane_rows));
                    if (at.exists) store(at.row, at.column, again(at.row, at.column));
                }
                return true;
            }
        return false;
    }

    template <class C> RICCI_FUNCTION void update_short_c(const arguments& a, const C& c) const {
        constexpr int of_tile = 2 * lane_rows, together = tile_n < 4 ? tile_n : 4;
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int first = 0; first < tile_n; first += together) {
                c_element now[together][of_tile];
                if constexpr (accumulate) {
                    RICCI_UNROLL
                    for (int e = 0; e < together * of_tile; ++e) {
                        const place at = place_of(r, first + e / of_tile, e % of_tile);
                        if (first + e / of_tile < tile_n && at.exists)
                            now[e / of_tile][e % of_tile] = c(at.row, at.column);
                    }
                }
                RICCI_UNROLL
                for (int e = 0; e < together * of_tile; ++e) {
                    const int tile = first + e / of_tile, i = e % of_tile;
                    if (tile >= tile_n) continue;
                    const place at = place_of(r, tile, i);
                    if (!at.exists) continue;
                    c_element& updated = now[e / of_tile][i];
                    update(a, updated, sums_[r][tile][0][i]);
                    c(at.row, at.column) = updated;
                }
            }
    }

    /// Column `at` (0 to 7) of tile c.
    RICCI_FUNCTION int column_of(int c, int at) const {
        return column0_ + (columns_apart ? at / 2 * 2 * tile_n + 2 * c + at % 2 : 8 * c + at);
    }

    struct place {
        int row, column;
        bool exists;
    };
    /// Of a lane's element i in tile (r, c).
    RICCI_FUNCTION place place_of(int r, int c, int i) const {
        const int lane = threadIdx.x % 32, high = lane / 4, low = lane % 4;
        const int at = row0_ + r * mma::rows + 8 * (i / 2) + high, beside = column_of(c, 2 * low + i % 2);
        const bool exists =
            (rows % (mma::rows * tile_m) == 0 || at < rows) && (columns % (8 * tile_n) == 0 || beside < columns);
        return c_transposed ? place{beside, at, exists} : place{at, beside, exists};
    }

    RICCI_FUNCTION bool is_not_finite() const {
        constexpr int of_tile = parts * 2 * lane_rows;
        return has_nan_or_infinity<tile_m * tile_n * of_tile>([&](int e) {
            return sums_[e / of_tile / tile_n][e / of_tile % tile_n][e % of_tile % parts][e % of_tile / parts];
        });
    }

    RICCI_FUNCTION void sums_become_nan() {
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c)
                RICCI_UNROLL
                for (int i = 0; i < 2 * lane_rows; ++i) sums_[r][c][0][i] = float_of(0x7fffffffu);
    }

    int row0_, column0_;
    unsigned least_ = 0xffffffffu;
    typename mma::sum sums_[tile_m][tile_n][parts][2 * lane_rows];
};
