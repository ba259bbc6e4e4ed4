// stationary_warpgroup: what a warp of batched_stationary computes where warps work in fours, on f32 and c64: 16 of
// 64 rows of C, from those rows of X, which it keeps in registers, and slices of columns of Y, which other warps
// bring into shared memory as pairs of TF32 numbers and the tensor cores read there. As stationary_tile.cuh, but that
// no warp reads Y's numbers again, and that products are made half as fast again.
//
// The sum's steps are dealt out so that reading them meets no bank conflicts whatever the lines of Y and X are apart:
// a product takes two chunks of four steps, chunk c those of number c, c + chunks, c + 2 chunks and c + 3 chunks.
//
// Constants: slice_stream.cuh's, mma_numbers.cuh's, and
//   tile_n             columns of a warpgroup, in eights
//   row_warps          warps that share the rows, a multiple of four; as many more take other columns of a slice
//   x_is_split         whether X is kept as pairs of TF32 numbers, or as f32 to be split each time
#pragma once

#include "mma_numbers.cuh"
#include "ptx_wgmma.cuh"
#include "slice_stream.cuh"
#include "stationary_tile.cuh"

#if RICCI_BULK_COPIES

template <int Type = x_type> class stationary_warpgroup {
    static constexpr bool is_complex = Type >= 4;
    using mma = mma_of<is_complex ? Type - 2 : Type>;
    using number = typename mma::number;
    static constexpr int parts = is_complex ? 2 : 1, words = mma::words;
    static constexpr bool keeps_floats = words > 1 && !x_is_split;
    static constexpr int steps = static_cast<int>(k), products = (steps + 7) / 8, chunks = 2 * products;
    static constexpr int columns = 8 * tile_n, sums = columns / 2;

    // Shared memory: real and imaginary parts, of each the high words and the low ones, of each a line a chunk.
    static constexpr int line_bytes = 16 * columns_of_slice + 16, ///< 16 more, for stores of neighboring chunks
        matrix_bytes = chunks * line_bytes;

    static constexpr int x_row = along_k[1] ? pitch[1] : 1, x_step = along_k[1] ? 1 : pitch[1];
    static constexpr int y_column = along_k[2] ? pitch[2] : 1, y_step = along_k[2] ? 1 : pitch[2];

    /// Whether step i of every chunk exists.
    static RICCI_FUNCTION bool is_whole(int i) { return (i + 1) * chunks <= steps; }

  public:
    /// Of a slice.
    static constexpr int bytes_of_fragments = parts * words * matrix_bytes;

    /// By `warps` warps, of which this is number `warp`: a slice of `own` columns, for multiply. Whether a lane's
    /// numbers lost bits.
    static RICCI_FUNCTION bool make_fragments(const y_element* y, int own, unsigned char* into, int warp, int warps) {
        // Neighboring lanes have neighboring chunks of a column, or else eight columns of a chunk.
        constexpr int together = along_k[2] ? 1 : 8;
        const int t = 32 * warp + static_cast<int>(threadIdx.x % 32), on = 32 * warps / together;
        const int at_first = t % together, chunks_on = on % chunks, columns_on = on / chunks * together;
        int c = t / together % chunks, column = t / together / chunks * together + at_first;
        unsigned least = 0xffffffffu;
        RICCI_UNROLL_2
        for (; column - at_first < own; column += columns_on) {
            const y_element* const from = y + (column < own ? column : own - 1) * y_column + c * y_step;
            union {
                unsigned word[4];
                sixteen_bytes all;
            } made[parts][words];
            RICCI_UNROLL
            for (int i = 0; i < 4; ++i) {
                number v[parts] = {};
                if (is_whole(i) || c + i * chunks < steps)
                    read_parts<mma, y_conjugated>(from[i * chunks * y_step], v, least);
                RICCI_UNROLL
                for (int z = 0; z < parts; ++z)
                    RICCI_UNROLL
                    for (int w = 0; w < words; ++w) made[z][w].word[i] = mma::word_of(v[z], w);
            }
            unsigned char* const to = into + c * line_bytes + column * 16;
            RICCI_UNROLL
            for (int z = 0; z < parts; ++z)
                RICCI_UNROLL
                for (int w = 0; w < words; ++w)
                    *reinterpret_cast<sixteen_bytes*>(to + (z * words + w) * matrix_bytes) = made[z][w].all;
            c += chunks_on;
            if (c >= chunks) c -= chunks, column += together;
        }
        show_to_copy_engine();
        return has_lost_bits<mma>(least);
    }

    explicit RICCI_FUNCTION stationary_warpgroup(int warp)
        : row0_(warp % row_warps * 16), column0_(warp / row_warps * columns) {}

    /// Takes what it needs of slice number `slice` of X, at `x`. The slices of a product come in their order.
    RICCI_FUNCTION void take_x(const x_element* x, int slice) {
        const int high = threadIdx.x % 32 / 4, low = threadIdx.x % 4;
        // Of a lane's steps, one for each chunk, the slice has some, unless its lines are rows.
        const int before = along_k[1] ? 0 : slice * lines_of_slice, first = low * chunks - before;
        const int end = is_whole(3) ? chunks : steps - low * chunks,
                  end_of_slice = along_k[1] ? end : lines_of_slice - first, begin = along_k[1] ? 0 : -first;
        const x_element* row_at[2];
        bool takes[2];
        RICCI_UNROLL
        for (int r = 0; r < 2; ++r) {
            // Rows beyond the matrix read its last one.
            const int at = row0_ + 8 * r + high, row = at < m ? at : static_cast<int>(m) - 1;
            takes[r] = !along_k[1] || row / lines_of_slice == slice;
            row_at[r] = x + (along_k[1] ? row % lines_of_slice : row) * x_row + first * x_step;
        }
        RICCI_UNROLL
        for (int c = 0; c < chunks; ++c) {
            const bool is_here = (along_k[1] || (c >= begin && c < end_of_slice)) && (is_whole(3) || c < end);
            RICCI_UNROLL
            for (int r = 0; r < 2; ++r)
                if (takes[r] && is_here) put_x(r, c, row_at[r][c * x_step]);
        }
        if (slice == x_slices - 1) split_x();
    }

    /// The sums of X*Y for a slice of which make_fragments made `fragments`.
    RICCI_FUNCTION void multiply(const y_element*, unsigned char* fragments, int) {
        RICCI_UNROLL
        for (int e = 0; e < parts * sums; ++e) sums_[e / sums][e % sums] = 0;
        const wgmma_columns y(fragments + column0_ * 16, line_bytes);
        wgmma_fence();
        RICCI_UNROLL
        for (int p = 0; p < products; ++p) {
            unsigned x[parts][words][4];
            RICCI_UNROLL
            for (int e = 0; e < parts * 4; ++e) {
                const number v = number_of(p, e / 4, e % 4);
                RICCI_UNROLL
                for (int w = 0; w < words; ++w) x[e / 4][w][e % 4] = mma::word_of(v, w);
            }
            const wgmma_columns at = y.behind(2 * p * line_bytes);
            if constexpr (keeps_floats) wgmma_fence(); // of registers written just now
            if constexpr (words > 1) add<1, 0>(x, at), add<0, 1>(x, at);
            add<0, 0>(x, at);
            if constexpr (keeps_floats) wgmma_commit(), wgmma_wait<1>(); // the registers of the one before are free
        }
        wgmma_commit();
        wgmma_wait<0>();
        RICCI_UNROLL
        for (int e = 0; e < parts * sums; ++e) wgmma_is_done(sums_[e / sums][e % sums]);
    }

    /// As stationary_tile's.
    template <class Again> RICCI_FUNCTION void update_c(const arguments& a, c_element* c, int own, bool lost_bits,
                                                        const Again& again) const {
        if (__any_sync(0xffffffffu, lost_bits || has_lost_bits<mma>(least_of_x_) || is_not_finite(own))) {
            RICCI_UNROLL_ONCE
            for (int s = 0; s < sums; ++s) {
                const place at = place_of(s, own);
                if (at.exists) update(a, c[at.row + at.column * pitch[0]], again(at.row, at.column));
            }
            return;
        }
        c_element now[sums];
        if constexpr (accumulate) {
            RICCI_UNROLL
            for (int s = 0; s < sums; ++s) {
                const place at = place_of(s, own);
                now[s] = at.exists ? c[at.row + at.column * pitch[0]] : c_element{}; // else it were kept for the next
            }
        }
        RICCI_UNROLL
        for (int s = 0; s < sums; ++s) {
            const place at = place_of(s, own);
            if (!at.exists) continue;
            compute sum;
            if constexpr (is_complex) sum = {sums_[0][s], sums_[1][s]};
            else sum = sums_[0][s];
            update(a, now[s], sum);
            c[at.row + at.column * pitch[0]] = now[s];
        }
    }

  private:
    struct place {
        int row, column; ///< the latter in the slice
        bool exists;
    };
    /// Of a lane's sum s.
    RICCI_FUNCTION place place_of(int s, int own) const {
        const int high = threadIdx.x % 32 / 4, low = threadIdx.x % 4;
        const int i = row0_ + s / 2 % 2 * 8 + high, j = column0_ + s / 4 * 8 + 2 * low + s % 2;
        return {i, j, (m % 64 == 0 || i < m) && j < own};
    }

    /// X's number for row r of 2, chunk c.
    RICCI_FUNCTION void put_x(int r, int c, const x_element& from) {
        RICCI_UNROLL
        for (int z = 0; z < parts; ++z) x_[c / 2][z][c % 2 * 2 + r] = number_from(part_of<x_conjugated>(from, z));
    }
    /// Once all are there.
    RICCI_FUNCTION void split_x() {
        const int low = threadIdx.x % 4;
        least_of_x_ = 0xffffffffu;
        RICCI_UNROLL
        for (int e = 0; e < chunks * 2 * parts; ++e) {
            const int c = e / 2 / parts, r = e % 2, z = e / 2 % parts;
            auto& kept = x_[c / 2][z][c % 2 * 2 + r];
            const bool exists = is_whole(3) || low * chunks + c < steps;
            const number split = mma::read(exists ? float_from(kept) : 0, least_of_x_);
            if constexpr (!keeps_floats) kept = split;
            else if (!exists) kept = 0;
        }
    }
    // A float in the place of a number, and as one again.
    static RICCI_FUNCTION auto number_from(float x) {
        if constexpr (keeps_floats) return x;
        else if constexpr (words > 1) return number{bits_of(x), 0};
        else return bits_of(x);
    }
    template <class Kept> static RICCI_FUNCTION float float_from(const Kept& x) {
        if constexpr (keeps_floats) return x;
        else return float_of(mma::word_of(x, 0));
    }
    /// Adds words XWord of X times words YWord of Y.
    template <int XWord, int YWord>
    RICCI_FUNCTION void add(const unsigned (&x)[parts][words][4], const wgmma_columns& y) {
        const wgmma_columns real = y.behind(YWord * matrix_bytes);
        wgmma_tf32<false>(sums_[0], x[0][XWord], real);
        if constexpr (is_complex) {
            const wgmma_columns imaginary = y.behind((words + YWord) * matrix_bytes);
            wgmma_tf32<false>(sums_[1], x[0][XWord], imaginary);
            wgmma_tf32<true>(sums_[0], x[1][XWord], imaginary);
            wgmma_tf32<false>(sums_[1], x[1][XWord], real);
        }
    }

    RICCI_FUNCTION number number_of(int p, int z, int e) const {
        unsigned none = 0xffffffffu;
        if constexpr (keeps_floats) {
            const int bits = as_if_new(static_cast<int>(bits_of(x_[p][z][e])));
            return mma::read(float_of(static_cast<unsigned>(bits)), none);
        } else {
            return x_[p][z][e];
        }
    }

    RICCI_FUNCTION bool is_not_finite(int own) const {
        return has_nan_or_infinity<parts * sums>(
            [&](int e) { return place_of(e % sums, own).exists ? sums_[e / sums][e % sums] : 0; });
    }

    int row0_, column0_;
    unsigned least_of_x_ = 0xffffffffu;
    float sums_[parts][sums];
    typename type_if<keeps_floats, float, number>::type x_[products][parts][4];
};

#endif
