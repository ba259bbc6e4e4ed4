// batched_small: whole products a block, in one shot. The block's part of each operand comes into shared memory, is
// multiplied there and leaves; occupancy hides the latency, there is no ring and no second round. On an H100 this
// runs at the speed of a triad.
//
//   an operand is   where                                                   how it moves
//   a span          one batch axis at most, matrices one behind another     one bulk copy
//   runs            else: each matrix in one piece, wherever a table or     16 bytes at a time, by asynchronous
//                   several batch axes put it                               copies; shorter ends number by number
//   lines           else: several batch axes, matrices in pieces, columns   16 bytes at a time, by asynchronous
//                   that would lie on the same banks; all from one          copies, and what is left of a line
//                   multiple of 16 bytes to another, or, but for 2-byte     number by number
//                   numbers, padded to that
//   packed          else                                                    element by element, neighbors in memory
//                                                                           together
//   realigned       X and Y of 2 bytes, as the tuner or the model chose     copied again within shared memory
//                                                                           (realign.cuh), Y to where X was; C comes
//                                                                           after that, to where Y was
//   stored whole    C is a span that holds nothing but C                    one bulk store; a span with gaps leaves
//                                                                           number by number, those of 2 bytes two
//                                                                           at a time; others as they came
//
// It is multiplied by the tensor cores (batched_mma): f64, c128, half and bfloat16 of some size; or by multiply-adds
// (batched_fma): all others.
//
// Constants: product.hpp's, batched_fma.cuh's, batched_mma.cuh's, and
//   products_per_block, threads_per_block
//   core                             0 batched_fma, 1 batched_mma
//   is_span[3], is_run[3], c_is_dense           of C, X, Y
//   line[3]                          elements of a line; 0: no lines
//   slot[3]                          elements from one product to the next in shared memory; 0: all share one matrix
//   length[3]                        elements from a matrix's first to its last, plus one
//   region[3]                        bytes from the start of shared memory to the operand's region, multiples of 128
//   fastest[3]                       along which axis neighbors in memory lie: 0 rows, 1 columns, 2 products
//   all_steps                        of the sum: k, or with the zeros behind realigned lines
//   realigned                        and with it realign.cuh's; row, column of X and Y are then those of the
//                                    realigned lines
//   places                           bytes to the addresses of each product's C, X and Y, if there are several batch
//                                    axes or tables
#pragma once

#include "product.hpp"
#include "span_copy.cuh"
#include "batched_tiles.cuh"
#include "line_share.cuh"
#include "realign.cuh"

static_assert(core != 1 || !columns_apart || fragments != 1 || realigned, "columns lie as the tiles read them");
static_assert(!realigned || tiles_in_turn[c_transposed ? 1 : 2] == (columns_apart ? tile_n : 0), "and as many");

constexpr bool has_places = batch_axes > 1 || has_tables;
constexpr bool loads_c = accumulate && !realigned; ///< with X and Y
constexpr bool copies_asynchronously = line[0] + line[1] + line[2] > 0 || is_run[0] || is_run[1] || is_run[2];

/// An operand's part of the block.
template <int O, class Element, int Rows, int Columns> struct block_operand {
    using unit = unit_of<Element>;
    // Of operands whose neighbors in a row or a column are neighbors here too.
    static constexpr bool of_columns = row[O] == 1; ///< lines, else of rows
    static constexpr int lines = of_columns ? Columns : Rows, pitch = of_columns ? column[O] : row[O];
    Element* global; ///< the block's first product; with places, unless it is a span, element (0, ..., 0)
    Element* shared;
    const unsigned long long* places; ///< three a product
    span_parts parts;

    RICCI_FUNCTION block_operand(Element* first, unsigned char* memory, const unsigned long long* where, int products)
        : global(first), places(where) {
        if constexpr (is_span[O]) {
            shared = reinterpret_cast<Element*>(place_in(memory + region[O], first));
            parts = parts_of(first, static_cast<int>(((products - 1) * slot[O] + length[O]) * sizeof(Element)));
        } else {
            shared = reinterpret_cast<Element*>(memory + region[O]);
        }
    }

    /// Product p's matrix in global memory.
    RICCI_FUNCTION Element* matrix(const arguments& a, int p) const {
        if constexpr (has_places) return reinterpret_cast<Element*>(places[3 * p + O]);
        else return global + p * a.batch_step[O][0];
    }
    /// And in shared memory.
    RICCI_FUNCTION Element* matrix_in_shared(int p) const {
        unsigned char* const begin = reinterpret_cast<unsigned char*>(shared + p * slot[O]);
        if constexpr (is_run[O]) return reinterpret_cast<Element*>(begin + places[3 * p + O] % 16);
        else return reinterpret_cast<Element*>(begin);
    }

    /// store(p, i, j, read(p, i, j)) for every element, neighbors in memory by neighboring threads.
    template <class Read, class Store>
    RICCI_FUNCTION void each(int products, const Read& read, const Store& store) const {
        const int matrices = slot[O] == 0 ? 1 : products;
        if constexpr (fastest[O] == 0)
            line_share<Columns, Rows>().each(
                matrices, [&](int p, int j, int i) { return read(p, i, j); },
                [&](int p, int j, int i, const Element& x) { store(p, i, j, x); });
        else if constexpr (fastest[O] == 1)
            line_share<Rows, Columns>().each(matrices, read, store);
        else
            line_share<Rows * Columns, products_per_block>().each(
                1, [&](int, int e, int p) { return p < matrices ? read(p, e % Rows, e / Rows) : Element{}; },
                [&](int, int e, int p, const Element& x) {
                    if (p < matrices) store(p, e % Rows, e / Rows, x);
                });
    }
    RICCI_FUNCTION Element& in_global(const arguments& a, int p, int i, int j) const {
        return matrix(a, p)[O == 0 ? c_offset(a, i, j) : O == 1 ? x_offset(a, i, j) : y_offset(a, i, j)];
    }
    RICCI_FUNCTION Element& in_shared(int p, int i, int j) const {
        return shared[p * slot[O] + i * row[O] + j * column[O]];
    }

    /// Calls move(16 bytes in global memory, in shared memory) for all that lie in runs at multiples of 16 bytes, and
    /// move_unit for each unit before and behind them.
    template <class Move, class MoveUnit>
    RICCI_FUNCTION void each_piece(int products, const Move& move, const MoveUnit& move_unit) const {
        constexpr int bytes = length[O] * static_cast<int>(sizeof(Element)), size = sizeof(unit), most = bytes / 16;
        struct run {
            /// bytes that it begins behind a multiple of 16, and from there to the first chunk
            int shift, first, chunks;
            unsigned char *from, *to;
        };
        const auto run_of = [&](int p) {
            const unsigned long long begin = places[3 * p + O];
            const int shift = static_cast<int>(begin % 16), first = shift == 0 ? 0 : 16,
                      chunks = (shift + bytes - first) / 16;
            return run{shift, first, chunks, reinterpret_cast<unsigned char*>(begin - shift),
                       reinterpret_cast<unsigned char*>(shared + p * slot[O])};
        };
        if constexpr (most > 0) {
            RICCI_UNROLL_2
            for (int e = threadIdx.x; e < products * most; e += threads_per_block) {
                const run r = run_of(e / at_least_one(most));
                const int at = r.first + e % at_least_one(most) * 16;
                if (at + 16 <= r.shift + bytes) move(r.from + at, r.to + at);
            }
        }
        constexpr int ends = (bytes % 16 + 16) / size; // where a chunk's worth is before and behind
        RICCI_UNROLL_ONCE
        for (int e = threadIdx.x; e < products * ends; e += threads_per_block) {
            const run r = run_of(e / ends);
            const int u = e % ends * size, head = r.first == 0 ? 0 : 16 - r.shift,
                      at = r.shift + (u < head ? u : u + 16 * r.chunks);
            if (at < r.shift + bytes)
                move_unit(reinterpret_cast<unit*>(r.from + at), reinterpret_cast<unit*>(r.to + at));
        }
    }

    /// Of a span in lines of 2-byte numbers: move(word in global memory, in shared memory) for all whole words, and
    /// move_unit for the number before and behind them.
    template <class Move, class MoveUnit>
    RICCI_FUNCTION void each_word(int products, const Move& move, const MoveUnit& move_unit) const {
        constexpr int numbers = of_columns ? Rows : Columns;
        line_share<lines, numbers / 2 + 1>().each(products, [&](int p, int l, int word) {
            const int begin = p * slot[O] + l * pitch;
            unit *const there = reinterpret_cast<unit*>(global + begin),
                        *const here = reinterpret_cast<unit*>(shared + begin);
            const int before = static_cast<int>(reinterpret_cast<unsigned long long>(there) / 2 % 2),
                      at = 2 * word - before; // the word's first number
            if (at >= 0 && at + 1 < numbers)
                move(reinterpret_cast<unsigned*>(there + at), reinterpret_cast<unsigned*>(here + at));
            else if (const int only = at < 0 ? 0 : at; only < numbers)
                move_unit(there + only, here + only);
        });
    }

    /// Whether the operand lies in lines at multiples of 16 bytes, here and in memory; where a table says is seen
    /// line by line.
    RICCI_FUNCTION bool has_aligned_lines(const arguments& a) const {
        if constexpr (line[O] == 0) return false;
        if constexpr (table_type[O] >= 0) return true;
        unsigned long long bits = reinterpret_cast<unsigned long long>(global);
        RICCI_UNROLL
        for (int axis = 0; axis < batch_axes; ++axis)
            bits |= static_cast<unsigned long long>(a.batch_step[O][axis]) * sizeof(Element);
        return bits % 16 == 0;
    }

    /// Calls move(16 bytes in global memory, in shared memory) for all lines, and move_unit for each unit of what is
    /// left of a line, or where a table's are not aligned.
    template <class Move, class MoveUnit>
    RICCI_FUNCTION void each_chunk(const arguments& a, int products, const Move& move,
                                   const MoveUnit& move_unit) const {
        constexpr int per = 16 / static_cast<int>(sizeof(Element)), whole = line[O] / per,
                      units = static_cast<int>(sizeof(Element) / sizeof(unit)), rest = line[O] % per * units;
        line_share<lines, whole + rest>().each(slot[O] == 0 ? 1 : products, [&](int p, int l, int place) {
            const int at = (place < whole ? place : whole) * per, i = of_columns ? at : l, j = of_columns ? l : at;
            Element *const from = &in_global(a, p, i, j), *const to = shared + p * slot[O] + l * pitch + at;
            unit *const from_unit = reinterpret_cast<unit*>(from), *const to_unit = reinterpret_cast<unit*>(to);
            if (place >= whole) move_unit(from_unit + (place - whole), to_unit + (place - whole));
            else if (table_type[O] < 0 || reinterpret_cast<unsigned long long>(from) % 16 == 0) move(from, to);
            else
                RICCI_UNROLL_ONCE
                for (int u = 0; u < per * units; ++u) move_unit(from_unit + u, to_unit + u);
        });
    }

    RICCI_FUNCTION int loaded_by_bulk() const { return is_span[O] ? parts.middle : 0; }

    /// All but what bulk copies bring.
    RICCI_FUNCTION void load_by_threads(const arguments& a, int products) const {
        const auto chunk = [](const void* in_global, void* in_shared) { async_copy<16>(in_shared, in_global, 16); };
        const auto short_chunk = [](const unit* in_global, unit* in_shared) {
            if constexpr (sizeof(unit) >= 4) async_copy<sizeof(unit)>(in_shared, in_global, sizeof(unit));
            else *in_shared = *in_global;
        };
        if constexpr (is_span[O]) {
            copy_ends<unit>(shared, global, parts);
#if !RICCI_BULK_COPIES
            copy_middle(shared, global, parts);
#endif
        } else if constexpr (is_run[O]) {
            each_piece(products, chunk, short_chunk);
        } else {
            if constexpr (line[O] > 0)
                if (has_aligned_lines(a)) return each_chunk(a, products, chunk, short_chunk);
            each(
                products, [&](int p, int i, int j) { return in_global(a, p, i, j); },
                [&](int p, int i, int j, const Element& x) { in_shared(p, i, j) = x; });
        }
    }

    /// Where it is no span without gaps.
    RICCI_FUNCTION void store_by_threads(const arguments& a, int products) const {
        const auto chunk = [](void* in_global, const void* in_shared) {
            *static_cast<sixteen_bytes*>(in_global) = *static_cast<const sixteen_bytes*>(in_shared);
        };
        const auto short_chunk = [](unit* in_global, const unit* in_shared) { *in_global = *in_shared; };
        if constexpr (is_run[O]) {
            each_piece(products, chunk, short_chunk);
        } else if constexpr (is_span[O] && sizeof(Element) == 2 && (row[O] == 1 || column[O] == 1)) {
            each_word(
                products, [](unsigned* in_global, const unsigned* in_shared) { *in_global = *in_shared; },
                short_chunk);
        } else {
            if constexpr (line[O] > 0)
                if (has_aligned_lines(a)) return each_chunk(a, products, chunk, short_chunk);
            each(
                products, [&](int p, int i, int j) { return in_shared(p, i, j); },
                [&](int p, int i, int j, const Element& x) { in_global(a, p, i, j) = x; });
        }
    }
#if RICCI_BULK_COPIES
    RICCI_FUNCTION void load_by_bulk(copy_barrier& b) const {
        if constexpr (is_span[O])
            if (parts.middle > 0) bulk_load(middle_of(shared, parts), middle_of(global, parts), parts.middle, b);
    }
#endif
};

/// x, y: p -> that product's matrix in shared memory; before_c is called before C is used.
template <class Tile, class C, class X, class Y, class Before>
RICCI_FUNCTION void multiply(const arguments& a, int products, const C& c, const X& x, const Y& y,
                             const Before& before_c) {
    RICCI_UNROLL_ONCE
    for (int g = threadIdx.x / Tile::threads; g < products * Tile::count; g += threads_per_block / Tile::threads) {
        const int p = g / Tile::count;
        Tile tile(g % Tile::count);
        c_element* const cp = c.matrix_in_shared(p);
        const x_element* const xp = x(p);
        const y_element* const yp = y(p);
        tile.template add<all_steps>(xp, yp);
        before_c();
        tile.update_c(a, [&](int i, int j) -> c_element& { return cp[i * row[0] + j * column[0]]; },
                      [&](int i, int j) { return dot_in_shared(xp + i * row[1], yp + j * column[2], k); });
    }
}

extern "C" __global__ void __launch_bounds__(threads_per_block)
    ricci_batched_small(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const long long first = block_number() * a.share;
    if (first >= a.products) return; // the whole block
    const int products = static_cast<int>(a.products - first < a.share ? a.products - first : a.share);

    unsigned long long* const where = reinterpret_cast<unsigned long long*>(memory + places);
    const auto before = [&](int o) { return batch_axes == 1 ? first * a.batch_step[o][0] : 0; };
    const block_operand<0, c_element, m, n> c(static_cast<c_element*>(a.c) + before(0), memory, where, products);
    const block_operand<1, x_element, m, k> x(const_cast<x_element*>(static_cast<const x_element*>(a.x)) + before(1),
                                              memory, where, products);
    const block_operand<2, y_element, k, n> y(const_cast<y_element*>(static_cast<const y_element*>(a.y)) + before(2),
                                              memory, where, products);

#if RICCI_BULK_COPIES
    copy_barrier& loaded = *reinterpret_cast<copy_barrier*>(memory);
    if (threadIdx.x == 0) start_barrier(loaded, 1);
    // for compute-sanitizer's racecheck, which takes the lane that started the barrier for another
    if (threadIdx.x < 32) __syncwarp();
    if (threadIdx.x == 0) {
        arrive_expecting(loaded, (loads_c ? c.loaded_by_bulk() : 0) + x.loaded_by_bulk() + y.loaded_by_bulk());
        x.load_by_bulk(loaded);
        y.load_by_bulk(loaded);
        if constexpr (loads_c) c.load_by_bulk(loaded);
    }
#endif
    if constexpr (has_places) { // while the spans are under way
        for (int p = threadIdx.x; p < products; p += threads_per_block) {
            const batch_places of_p = places_of(a, first + p);
            where[3 * p] = reinterpret_cast<unsigned long long>(of_p.c);
            where[3 * p + 1] = reinterpret_cast<unsigned long long>(of_p.x);
            where[3 * p + 2] = reinterpret_cast<unsigned long long>(of_p.y);
        }
        __syncthreads();
    }
    x.load_by_threads(a, products);
    y.load_by_threads(a, products);
    if constexpr (loads_c) c.load_by_threads(a, products);
    ends_on_the_way<unit_of<c_element>> c_ends;
    if constexpr (realigned && accumulate) c_ends.take(c.global, c.parts);
    if constexpr (copies_asynchronously) {
        commit_async_copies();
        wait_async_copies<0>();
    }
    __syncthreads();
#if RICCI_BULK_COPIES
    wait_barrier(loaded, 0);
#endif

    if constexpr (realigned) {
        realign<1, x_element>(memory, slot[1] == 0 ? 1 : products, [&](int p) { return x.matrix_in_shared(p); });
        __syncthreads();
        realign<2, y_element>(memory, slot[2] == 0 ? 1 : products, [&](int p) { return y.matrix_in_shared(p); });
        if constexpr (accumulate) {
#if RICCI_BULK_COPIES
            show_to_copy_engine(); // Y was read before C is written over it
            __syncthreads();
            if (threadIdx.x == 0) {
                arrive_expecting(loaded, c.loaded_by_bulk());
                c.load_by_bulk(loaded);
            }
#else
            __syncthreads();
            copy_middle(c.shared, c.global, c.parts);
#endif
            c_ends.put(c.shared, c.parts);
        }
        __syncthreads();
        multiply<typename tile_of<core>::type>(
            a, products, c, [&](int p) { return realigned_matrix<1, x_element>(memory, p); },
            [&](int p) { return realigned_matrix<2, y_element>(memory, p); },
            [&] {
#if RICCI_BULK_COPIES
                if constexpr (accumulate) wait_barrier(loaded, 1);
#endif
            });
    } else {
        multiply<typename tile_of<core>::type>(
            a, products, c, [&](int p) { return x.matrix_in_shared(p); },
            [&](int p) { return y.matrix_in_shared(p); }, [] {});
    }

    if constexpr (c_is_dense) {
#if RICCI_BULK_COPIES
        show_to_copy_engine();
        __syncthreads();
        if (threadIdx.x == 0 && c.parts.middle > 0)
            bulk_store(middle_of(c.global, c.parts), middle_of(c.shared, c.parts), c.parts.middle);
        copy_ends<unit_of<c_element>>(c.global, c.shared, c.parts);
        if (threadIdx.x == 0) wait_bulk_stores();
#else
        __syncthreads();
        copy_ends<unit_of<c_element>>(c.global, c.shared, c.parts);
        copy_middle(c.global, c.shared, c.parts);
#endif
    } else {
        __syncthreads();
        c.store_by_threads(a, products);
    }
}
