// batched_stationary: products too large for an SM to hold several of: X stays in the registers of a block's warps,
// which share its rows, while slices of columns of Y and C stream through a ring in shared memory. Blocks stay, each
// takes turns at products, and what the next ones need is asked for while one is computed.
//
//   chosen    sm_90 and later, for operands of one type that the tensor cores take, whose neighbors in memory are
//             neighbors in m, n or k, C's in m, and X of at most as many numbers as the registers of a block hold:
//             see stationary_model.cpp
//   warps     ask for slices of X, and of Y together with C's where it is added to
//   a warp    stores C's slices, changed in their place, and hands stages back
//   warps     bring Y's numbers into the form that the tensor cores take, where that is more than reading them: f32
//   others    compute: stationary_tile.cuh, stationary_warpgroup.cuh
//
// Constants: product.hpp's, slice_stream.cuh's, stationary_tile.cuh's, stationary_warpgroup.cuh's, and
//   threads_per_block, blocks_of_an_sm
//   compute_warps      the block's first
//   load_warps         the block's last: they ask for slices
//   fragment_warps     before those: they make fragments; 0: there are none
//   compute_registers  of a thread that computes, and of the others, which are four warps then; 0: all have as many
//   helper_registers
//   stages             slices that shared memory holds
//   stage_bytes        bytes of a stage, a multiple of 128
//   barrier_bytes      before the first stage: for three barriers a stage and where its slices begin
//   x_for_all          whether all products share one X
//   warpgroups         whether warps that compute work in fours
#pragma once

#include "stationary_tile.cuh"
#include "stationary_warpgroup.cuh"

#if RICCI_BULK_COPIES

constexpr int first_helper = threads_per_block / 32 - load_warps - fragment_warps - 1, loaders = 32 * load_warps;
constexpr int fragment_stages = has_fragments ? 2 : 0;
using tile_of_warp = type_if<warpgroups, stationary_warpgroup<>, stationary_tile<>>::type;
using x_stream = slice_stream<1, x_element>;
using y_stream = slice_stream<2, y_element>;
using c_stream = slice_stream<0, c_element>;
constexpr bool has_async_copies =
    x_stream::copies_asynchronously || y_stream::copies_asynchronously || c_stream::copies_asynchronously;
constexpr bool has_plain_copies = x_stream::copies_plainly || c_stream::copies_plainly;
constexpr int arrivals_of_a_loader = 1 + has_async_copies + has_plain_copies;

/// A turn of the ring: a stage, and how often it was used before, odd or even.
struct ring_turn {
    int stage = 0, parity = 0;
    RICCI_FUNCTION void advance(int count = stages) {
        if (++stage == count) stage = 0, parity ^= 1;
    }
};

constexpr int stage_bookkeeping = 3 * static_cast<int>(sizeof(copy_barrier)) + 8; ///< bytes

/// Three barriers a stage: `full` when its slices are there, `done` when all warps that read them are done with them,
/// `empty` when what they changed has left. All lanes of a warp arrive: one that does so for all, behind __syncwarp,
/// is right as well and at most 1 % faster, but compute-sanitizer's racecheck does not know that order.
struct slice_ring {
    unsigned char* memory;

    /// Where fragments lie behind the stages, and for each two barriers: `made` by all warps that make them, `used`
    /// by all that compute.
    RICCI_FUNCTION unsigned char* fragments(ring_turn at) const {
        return memory + barrier_bytes + stages * stage_bytes + at.stage * tile_of_warp::bytes_of_fragments;
    }
    RICCI_FUNCTION copy_barrier& made(ring_turn at) const {
        return reinterpret_cast<copy_barrier*>(memory + stages * stage_bookkeeping)[at.stage];
    }
    RICCI_FUNCTION copy_barrier& used(ring_turn at) const {
        return reinterpret_cast<copy_barrier*>(memory + stages * stage_bookkeeping)[fragment_stages + at.stage];
    }
    /// Whether the numbers that a warp brought into that form lost bits.
    RICCI_FUNCTION int& lost_bits(ring_turn at, int fragment_warp) const {
        return reinterpret_cast<int*>(
            memory + stages * stage_bookkeeping +
            2 * fragment_stages * sizeof(copy_barrier))[at.stage * at_least_one(fragment_warps) + fragment_warp];
    }

    RICCI_FUNCTION copy_barrier& full(ring_turn at) const {
        return reinterpret_cast<copy_barrier*>(memory)[at.stage];
    }
    RICCI_FUNCTION copy_barrier& done(ring_turn at) const {
        return reinterpret_cast<copy_barrier*>(memory)[stages + at.stage];
    }
    RICCI_FUNCTION copy_barrier& empty(ring_turn at) const {
        return reinterpret_cast<copy_barrier*>(memory)[2 * stages + at.stage];
    }
    /// Bytes from the start of the stage to the slice of X or Y [0] and of C [1].
    RICCI_FUNCTION int* places(ring_turn at) const {
        return reinterpret_cast<int*>(memory + 3 * stages * sizeof(copy_barrier)) + 2 * at.stage;
    }
    RICCI_FUNCTION unsigned char* stage(ring_turn at) const {
        return memory + barrier_bytes + at.stage * stage_bytes;
    }

    RICCI_FUNCTION void start() const {
        static_assert(stages * stage_bookkeeping +
                              fragment_stages * (2 * static_cast<int>(sizeof(copy_barrier)) + 4 * fragment_warps) <=
                          barrier_bytes,
                      "the barriers' room");
        if (threadIdx.x == 0) {
            for (ring_turn at; at.parity == 0; at.advance()) {
                start_barrier(full(at), loaders * arrivals_of_a_loader);
                start_barrier(done(at), 32 * (compute_warps + fragment_warps));
                start_barrier(empty(at), 32);
            }
            for (ring_turn at; at.stage < fragment_stages && at.parity == 0; at.advance(fragment_stages))
                start_barrier(made(at), 32 * fragment_warps), start_barrier(used(at), 32 * compute_warps);
        }
        __syncthreads();
    }

    /// By all lanes of a warp, done with what they read and wrote.
    RICCI_FUNCTION void release(ring_turn at) const {
        show_to_copy_engine();
        arrive_expecting(done(at), 0);
    }
};

/// Of a slice.
RICCI_FUNCTION int columns_of(int number) { return own_part(number, columns_of_slice, n); }

/// Calls turn(whether slices of X come, of Y and C else; the number of the slice; where the product lies; the ring's
/// turn) for all of this block's.
template <class Turn> RICCI_FUNCTION void each_turn(const arguments& a, const Turn& turn) {
    ring_turn at;
    bool has_x = false;
    RICCI_UNROLL_ONCE
    for (long long product = block_number(); product < a.products; product += a.blocks) {
        RICCI_UNROLL_ONCE
        for (int s = has_x ? x_slices : 0; s < x_slices + column_slices; ++s, at.advance()) {
            // Found again each time, for want of registers.
            const batch_places of = places_of(a, as_if_new(product));
            turn(s < x_slices, s < x_slices ? s : s - x_slices, of, at);
        }
        has_x = x_for_all;
    }
}

/// By load_warps warps, of whose threads this is number `t`.
RICCI_FUNCTION void ask_for_slices(const arguments& a, const slice_ring& ring, int t) {
    each_turn(a, [&](bool is_x, int number, const batch_places& of, ring_turn at) {
        wait_barrier(ring.empty(at), at.parity ^ 1); // the phase before the first has ended
        const x_stream x(a, const_cast<x_element*>(of.x));
        const y_stream y(a, const_cast<y_element*>(of.y));
        const c_stream c(a, of.c);
        copy_barrier& full = ring.full(at);
        if (t == 0)
            ring.places(at)[0] = is_x ? x.place(number) : y.place(number),
            ring.places(at)[1] = c.place(is_x ? 0 : number);
        arrive_expecting(full, is_x ? x.bulk_bytes(number, t)
                                    : y.bulk_bytes(number, t) + (accumulate ? c.bulk_bytes(number, t) : 0));
        if (is_x) {
            x.load(ring.stage(at), number, full, t, loaders);
        } else {
            y.load(ring.stage(at), number, full, t, loaders);
            if constexpr (accumulate) c.load(ring.stage(at), number, full, t, loaders);
        }
        if constexpr (has_async_copies) arrive_after_async_copies(full);
        if constexpr (has_plain_copies) arrive_expecting(full, 0);
    });
}

/// By a warp.
RICCI_FUNCTION void store_slices(const arguments& a, const slice_ring& ring) {
    each_turn(a, [&](bool is_x, int number, const batch_places& of, ring_turn at) {
        wait_barrier(ring.done(at), at.parity);
        if (!is_x) c_stream(a, of.c).store(ring.stage(at), number);
        arrive_expecting(ring.empty(at), 0);
    });
}

/// By fragment_warps warps, of which this is number `warp`. A template, so that types without fragments have none.
template <class Tile, bool Makes>
RICCI_FUNCTION void make_fragments(const arguments& a, const slice_ring& ring, int warp) {
    if constexpr (Makes) {
        ring_turn into;
        each_turn(a, [&](bool is_x, int number, const batch_places&, ring_turn at) {
            wait_barrier(ring.full(at), at.parity);
            if (!is_x) {
                wait_barrier(ring.used(into), into.parity ^ 1);
                const y_element* const y = reinterpret_cast<const y_element*>(ring.stage(at) + ring.places(at)[0]);
                const bool lost =
                    Tile::make_fragments(y, columns_of(number), ring.fragments(into), warp, fragment_warps);
                const bool any_lost = __any_sync(0xffffffffu, lost);
                if (threadIdx.x % 32 == 0) ring.lost_bits(into, warp) = any_lost ? 1 : 0;
                arrive_expecting(ring.made(into), 0);
                into.advance(fragment_stages);
            }
            ring.release(at);
        });
    }
}

/// By a warp that computes: a product's slices of columns.
template <class Tile> RICCI_FUNCTION void compute_slices(const arguments& a, const slice_ring& ring, Tile& tile,
                                                         long long product, ring_turn& at, ring_turn& fragments) {
    RICCI_UNROLL_ONCE
    for (int s = 0; s < column_slices; ++s, at.advance()) {
        const int own = columns_of(s);
        wait_barrier(ring.full(at), at.parity);
        unsigned char* const stage = ring.stage(at);
        bool lost_bits = false;
        if constexpr (has_fragments) {
            wait_barrier(ring.made(fragments), fragments.parity);
            tile.multiply(nullptr, ring.fragments(fragments), own);
            const int lane = threadIdx.x % 32;
            lost_bits = ring.lost_bits(fragments, lane < fragment_warps ? lane : 0) != 0;
            arrive_expecting(ring.used(fragments), 0);
            fragments.advance(fragment_stages);
        } else {
            tile.multiply(reinterpret_cast<const y_element*>(stage + ring.places(at)[0]), nullptr, own);
        }
        c_element* const c = reinterpret_cast<c_element*>(stage + ring.places(at)[1]);
        tile.update_c(a, c, own, lost_bits, [&](int i, int j) {
            const batch_places of = places_of(a, product);
            return dot_in_global(a, of.x, of.y, i, static_cast<long long>(s) * columns_of_slice + j, 0, k);
        });
        ring.release(at);
    }
}

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_batched_stationary(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const slice_ring ring{memory};
    ring.start();
    const int warp = threadIdx.x / 32;
    if (warp >= first_helper) {
        have_registers<helper_registers, false>();
        if (warp == first_helper) return store_slices(a, ring);
        if (warp > first_helper + fragment_warps)
            return ask_for_slices(a, ring, static_cast<int>(threadIdx.x) - 32 * (first_helper + fragment_warps + 1));
        return make_fragments<tile_of_warp, has_fragments>(a, ring, warp - first_helper - 1);
    }
    have_registers<compute_registers, true>();
    if (warp >= compute_warps) return; // fills up four
    tile_of_warp tile(warp);
    ring_turn at, fragments;
    bool has_x = false;
    RICCI_UNROLL_ONCE
    for (long long product = block_number(); product < a.products; product += a.blocks) {
        if (!has_x) {
            const auto take = [&](int s) {
                wait_barrier(ring.full(at), at.parity);
                tile.take_x(reinterpret_cast<const x_element*>(ring.stage(at) + ring.places(at)[0]), s);
                ring.release(at);
                at.advance();
            };
            if constexpr (along_k[1] || warpgroups) {
                RICCI_UNROLL_ONCE
                for (int s = 0; s < x_slices; ++s) take(s);
            } else { // each slice goes to registers of its own
                RICCI_UNROLL
                for (int s = 0; s < x_slices; ++s) take(s);
            }
            has_x = x_for_all;
        }
        compute_slices(a, ring, tile, product, at, fragments);
    }
}

#endif
