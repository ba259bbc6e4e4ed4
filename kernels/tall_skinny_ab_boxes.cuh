// tall_skinny_ab_boxes: C = X*Y with a long m of one axis and small n and k, where X and C are columns, by the
// tensor cores. Each warp goes its own way: boxes of X (ptx_box.cuh), 128 bytes of every column each, come into a
// stage of its own while those before are multiplied, and what it computes goes back as boxes of C. Y is prepared
// once a block, in the form in which the tensor cores take it. No thread waits for another warp's. Neighboring
// boxes that are asked for and stored at once are longer lines to the memory: 128 bytes are copied at 3.6 TB/s on
// an H200, 256 at 3.9.
//
//   boxes     where C is only written, its box takes the place of X's; where it is added to, it comes beside it
//   X, C      element by element, X by asynchronous copies, where some column does not start at a multiple of 16
//             bytes; the last rows of C also where they end within 16 bytes
//
// A line of a box are of_line rows, of which a lane has those of one piece of 16 bytes: a lane of row 0 of each tile
// of 16 rows has, of tile t, rows 2t and 2t + 1. All accesses to boxes are of 16 bytes and meet no bank twice.
//
// Constants: product.hpp's, mma_numbers.cuh's, and
//   threads_per_block, blocks_of_an_sm
//   stages             of a warp
//   boxes_of_stage
//   box_bytes          of X and C, a multiple of 1024
//   c_place            bytes from the start of X's box to C's: 0 where it takes its place
//   barrier_bytes      before the first stage, a multiple of 1024: a barrier a stage, and a flag
//   k_unrolled         steps of the sum at once, in eights
#pragma once

#include "mma_numbers.cuh"
#include "ptx_box.cuh"

#if RICCI_BULK_COPIES

constexpr int warps = threads_per_block / 32, stage_bytes = boxes_of_stage * box_bytes;

/// 16 bytes of a line.
template <class Element> struct alignas(16) box_piece {
    static constexpr int count = 16 / sizeof(Element);
    Element e[count];
};

template <int Type = x_type> class box_products {
    static constexpr bool is_complex = Type >= 4;
    using mma = mma_of<is_complex ? Type - 2 : Type>;
    using number = typename mma::number;
    using piece = box_piece<x_element>;
    static constexpr int parts = is_complex ? 2 : 1;
    static constexpr bool is_split = mma::elements == 2; ///< or rounded: see mma_tile
    static constexpr int steps = static_cast<int>(k), columns = static_cast<int>(n);
    static constexpr int tiles = piece::count / 2, column_tiles = (columns + 7) / 8, groups = (steps + 7) / 8;
    static_assert(mma::rows == 16 && sizeof(c_element) == sizeof(x_element), "boxes of X and C have the same rows");

    /// A lane's numbers of Y for eight steps of the sum and a tile of columns: of steps 2 low and 2 low + 1.
    struct alignas(sizeof(number) * parts * 2 % 16 == 0 ? 16 : 8) pair_of_y {
        number v[parts][2];
    };

  public:
    static constexpr int of_line = 8 * piece::count; ///< rows
    static constexpr int bytes_of_y = groups * column_tiles * 32 * static_cast<int>(sizeof(pair_of_y));

    /// By all threads. `has_lost_bits_of_y` becomes 1 where a number is too small to be split.
    static RICCI_FUNCTION void prepare_y(const arguments& a, unsigned char* into, int& has_lost_bits_of_y) {
        unsigned least = 0xffffffffu;
        const int lane = threadIdx.x % 32, high = lane / 4, low = lane % 4;
        const y_element* const y = static_cast<const y_element*>(a.y);
        RICCI_UNROLL_2
        for (int at = threadIdx.x / 32; at < groups * column_tiles; at += warps) {
            const int group = at / column_tiles, column = at % column_tiles * 8 + high;
            pair_of_y made;
            RICCI_UNROLL
            for (int q = 0; q < 2; ++q) {
                const int step = 8 * group + 2 * low + q;
                number v[parts] = {};
                if (step < steps && column < columns)
                    read_parts<mma, y_conjugated>(y[y_offset(a, step, column)], v, least);
                RICCI_UNROLL
                for (int z = 0; z < parts; ++z) made.v[z][q] = v[z];
            }
            reinterpret_cast<pair_of_y*>(into)[at * 32 + lane] = made;
        }
        if (has_lost_bits<mma>(least)) has_lost_bits_of_y = 1;
    }

    /// The sums of a box of X.
    RICCI_FUNCTION void multiply(const unsigned char* x, const unsigned char* prepared) {
        const int lane = threadIdx.x % 32, high = lane / 4, low = lane % 4;
        const pair_of_y* const y = reinterpret_cast<const pair_of_y*>(prepared) + lane;
        const int at[2] = {place_in_box(2 * low, high * 16), place_in_box(2 * low + 1, high * 16)};
        least_ = 0xffffffffu;
        clear_sums(sums_);
        RICCI_UNROLL_K
        for (int g = 0; g < groups; ++g) {
            number left[tiles][parts][2][2]; // tile, part, row, step
            RICCI_UNROLL
            for (int q = 0; q < 2; ++q) {
                piece from = {};
                if (steps % 8 == 0 || 8 * g + 2 * low + q < steps)
                    from = *reinterpret_cast<const piece*>(x + g * 8 * box_line + at[q]);
                RICCI_UNROLL
                for (int e = 0; e < piece::count; ++e) {
                    number v[parts];
                    read_parts<mma, x_conjugated>(from.e[e], v, least_);
                    RICCI_UNROLL
                    for (int z = 0; z < parts; ++z) left[e / 2][z][e % 2][q] = v[z];
                }
            }
            constexpr int together = column_tiles < 4 ? column_tiles : 4;
            RICCI_UNROLL
            for (int first = 0; first < column_tiles; first += together) {
                pair_of_y right[together];
                RICCI_UNROLL
                for (int c = 0; c < together; ++c)
                    if (first + c < column_tiles) right[c] = y[(g * column_tiles + first + c) * 32];
                add<0, together>(left, right, first);
                if constexpr (mma::passes > 1)
                    add<1, together>(left, right, first), add<2, together>(left, right, first);
            }
        }
    }

    /// C (+)= the sums, in the box at `c`; `first`: its first row; again(row, column): such a sum by multiply-adds.
    template <class Again> RICCI_FUNCTION void update_c(const arguments& a, unsigned char* c, long long first,
                                                        long long rows, bool lost_bits, const Again& again) const {
        const int lane = threadIdx.x % 32, high = lane / 4, low = lane % 4;
        if constexpr (is_split)
            if (__any_sync(0xffffffffu, lost_bits || has_lost_bits<mma>(least_) || is_not_finite())) {
                RICCI_UNROLL_ONCE
                for (int e = 0; e < column_tiles * 2 * piece::count; ++e) {
                    const int j = e / (2 * piece::count) * 8 + 2 * low + e / piece::count % 2,
                              i = high * piece::count + e % piece::count;
                    if (j < columns && first + i < rows)
                        update(a, *reinterpret_cast<c_element*>(c + place_in_box(j, i * int{sizeof(c_element)})),
                               again(first + i, j));
                }
                return;
            }
        RICCI_UNROLL
        for (int t = 0; t < column_tiles; ++t)
            RICCI_UNROLL
            for (int b = 0; b < 2; ++b) {
                const int j = 8 * t + 2 * low + b;
                if (columns % 8 != 0 && j >= columns) continue;
                box_piece<c_element>& to = *reinterpret_cast<box_piece<c_element>*>(
                    c + t * 8 * box_line + place_in_box(2 * low + b, high * 16));
                box_piece<c_element> now = {};
                if constexpr (accumulate) now = to;
                RICCI_UNROLL
                for (int e = 0; e < piece::count; ++e) {
                    compute sum;
                    if constexpr (is_complex)
                        sum = {sums_[e / 2][t][e % 2 * 2 + b], sums_[tiles + e / 2][t][e % 2 * 2 + b]};
                    else sum = sums_[e / 2][t][e % 2 * 2 + b];
                    update(a, now.e[e], sum);
                }
                to = now;
            }
    }

  private:
    template <int Pass, int Together>
    RICCI_FUNCTION void add(const number (&left)[tiles][parts][2][2], const pair_of_y (&right)[Together],
                            int first) {
        RICCI_UNROLL
        for (int c = 0; c < Together; ++c)
            RICCI_UNROLL
            for (int t = 0; t < tiles; ++t) {
                if (first + c >= column_tiles) continue;
                add_steps<Pass>(sums_[t][first + c], left[t][0], right[c].v[0]);
                if constexpr (is_complex) {
                    number minus[2][2];
                    RICCI_UNROLL
                    for (int e = 0; e < 4; ++e) minus[e / 2][e % 2] = mma::negative(left[t][1][e / 2][e % 2]);
                    add_steps<Pass>(sums_[tiles + t][first + c], left[t][0], right[c].v[1]);
                    add_steps<Pass>(sums_[t][first + c], minus, right[c].v[1]);
                    add_steps<Pass>(sums_[tiles + t][first + c], left[t][1], right[c].v[0]);
                }
            }
    }
    /// Eight steps: one product, or two of four.
    template <int Pass> static RICCI_FUNCTION void add_steps(typename mma::sum (&sums)[4], const number (&left)[2][2],
                                                             const number (&right)[2]) {
        if constexpr (mma::elements == 2) {
            mma::template multiply<Pass>(sums, left, right);
        } else {
            RICCI_UNROLL
            for (int q = 0; q < 2; ++q) {
                const number l[2][1] = {{left[0][q]}, {left[1][q]}}, r[1] = {right[q]};
                mma::template multiply<Pass>(sums, l, r);
            }
        }
    }

    RICCI_FUNCTION bool is_not_finite() const {
        return has_nan_or_infinity<parts * tiles * column_tiles * 4>(
            [&](int e) { return sums_[e / 4 / column_tiles][e / 4 % column_tiles][e % 4]; });
    }

    unsigned least_ = 0xffffffffu;
    typename mma::sum sums_[parts * tiles][column_tiles][4]; ///< imaginary parts behind the real ones
};

/// f(column, row in the box) by a warp: for each element of `columns` columns of which so many rows exist.
template <int OfLine, class F> RICCI_FUNCTION void each_element(int columns, int rows, const F& f) {
    RICCI_UNROLL_4
    for (int e = threadIdx.x % 32; e < columns * OfLine; e += 32)
        if (e % OfLine < rows) f(e / OfLine, e % OfLine);
}
template <class Element> RICCI_FUNCTION Element& in_box(unsigned char* box, int column, int row) {
    return *reinterpret_cast<Element*>(box + place_in_box(column, row * static_cast<int>(sizeof(Element))));
}

/// A warp's stages, and a barrier for each: when the boxes are there. All lanes arrive.
struct box_ring {
    static constexpr int of_line = box_line / static_cast<int>(sizeof(x_element)); ///< rows of a box

    const arguments& a;
    unsigned char* memory;
    int warp;
    bool by_boxes;
    int stage = 0, parity = 0;

    RICCI_FUNCTION copy_barrier& full(int s) const {
        return reinterpret_cast<copy_barrier*>(memory)[warp * stages + s];
    }
    RICCI_FUNCTION unsigned char* box(int s, int b) const {
        return memory + barrier_bytes + (warp * stages + s) * stage_bytes + b * box_bytes;
    }
    RICCI_FUNCTION int before() const { return stage == 0 ? stages - 1 : stage - 1; }
    RICCI_FUNCTION void advance() {
        if (++stage == stages) stage = 0, parity ^= 1;
    }

    /// The rows of a box that exist, from `row` on.
    RICCI_FUNCTION int own_rows(long long row) const {
        const long long left = row_count(a) - row;
        return left < of_line ? static_cast<int>(left) : of_line;
    }

    /// Rows from `row` on, into stage s. What lies beyond the last is zero, or whatever was there.
    RICCI_FUNCTION void ask_for(long long row, int s) const {
        constexpr int lines = static_cast<int>(k) + (accumulate ? static_cast<int>(n) : 0);
        if (!by_boxes) return copy_elements(row, s);
        const bool asks = threadIdx.x % 32 == 0;
        arrive_expecting(full(s), asks ? boxes_of_stage * lines * box_line : 0);
        if (!asks) return;
        RICCI_UNROLL_ONCE
        for (int b = 0; b < boxes_of_stage; ++b) {
            box_load(box(s, b), a.box[1], row + b * of_line, 0, full(s));
            if constexpr (accumulate) box_load(box(s, b) + c_place, a.box[0], row + b * of_line, 0, full(s));
        }
    }

  private:
    RICCI_FUNCTION void copy_elements(long long row, int s) const {
        RICCI_UNROLL_ONCE
        for (int b = 0; b < boxes_of_stage; ++b, row += of_line) {
            unsigned char* const x = box(s, b);
            const x_element* const from = static_cast<const x_element*>(a.x) + m_offset(a, 1, row);
            each_element<of_line>(static_cast<int>(k), own_rows(row), [&](int p, int i) {
                async_copy<sizeof(x_element)>(&in_box<x_element>(x, p, i), from + x_offset(a, i, p),
                                              sizeof(x_element));
            });
            if constexpr (accumulate)
                each_element<of_line>(static_cast<int>(n), own_rows(row), [&](int j, int i) {
                    async_copy<sizeof(c_element)>(&in_box<c_element>(x + c_place, j, i),
                                                  static_cast<const c_element*>(a.c) + c_offset(a, row + i, j),
                                                  sizeof(c_element));
                });
        }
        arrive_after_async_copies(full(s));
    }
};

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_tall_skinny_ab_boxes(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    using products = box_products<>;
    constexpr int of_line = products::of_line, of_stage = boxes_of_stage * of_line, columns = static_cast<int>(n);
    box_ring ring{a, memory, static_cast<int>(threadIdx.x / 32), a.boxes_are_here != 0};
    int& lost_bits_of_y = *reinterpret_cast<int*>(memory + warps * stages * sizeof(copy_barrier));
    unsigned char* const y = memory + barrier_bytes + warps * stages * stage_bytes;
    const long long rows = row_count(a), on = a.blocks * warps * of_stage;
    long long first = (block_number() * warps + ring.warp) * of_stage;
    if (threadIdx.x % 32 == 0)
        for (int s = 0; s < stages; ++s) start_barrier(ring.full(s), 32);
    if (threadIdx.x == 0) lost_bits_of_y = 0;
    __syncthreads();
    for (int s = 0; s < stages; ++s)
        if (first + s * on < rows) ring.ask_for(first + s * on, s);
    products::prepare_y(a, y, lost_bits_of_y);
    __syncthreads();
    const bool lost_bits = lost_bits_of_y != 0;
    const auto again = [&](long long i, int j) {
        return dot_in_global(a, static_cast<const x_element*>(a.x), static_cast<const y_element*>(a.y), i, j, 0, k);
    };
    const auto leaves_by_box = [&](long long row) {
        return ring.by_boxes && ring.own_rows(row) * static_cast<int>(sizeof(c_element)) % 16 == 0;
    };
    products mine;
    bool is_first = true;
    RICCI_UNROLL_ONCE
    for (; first < rows; first += on, ring.advance()) {
        wait_barrier(ring.full(ring.stage), ring.parity);
        RICCI_UNROLL_ONCE
        for (int b = 0; b < boxes_of_stage; ++b) {
            const long long row = first + b * of_line;
            if (row >= rows) break;
            unsigned char* const x = ring.box(ring.stage, b);
            unsigned char* const c = x + c_place;
            mine.multiply(x, y);
            __syncwarp(); // X has been read
            mine.update_c(a, c, row, rows, lost_bits, again);
            show_to_copy_engine();
            __syncwarp();
            if (leaves_by_box(row)) continue;
            each_element<of_line>(static_cast<int>(n), ring.own_rows(row), [&](int j, int i) {
                static_cast<c_element*>(a.c)[c_offset(a, row + i, j)] = in_box<c_element>(c, j, i);
            });
            __syncwarp();
        }
        if (threadIdx.x % 32 == 0) {
            RICCI_UNROLL_ONCE
            for (int b = 0; b < boxes_of_stage; ++b)
                if (const long long row = first + b * of_line; row < rows && leaves_by_box(row))
                    box_store(a.box[0], row, 0, ring.box(ring.stage, b) + c_place);
            wait_bulk_stores<boxes_of_stage>(); // those of the stage before
        }
        const long long next = first + (stages - 1) * on;
        if (!is_first && next < rows) ring.ask_for(next, ring.before());
        is_first = false;
    }
    if (threadIdx.x % 32 == 0) wait_bulk_stores();
}

#endif
