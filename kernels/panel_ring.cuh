// panel_ring: streams X and Y through shared memory, `stages` panels at a time, and hands over each panel when it is
// there.
//
//   panels come                                              where
//   by a bulk copy each, which a warp of its own asks for    both operands' panels are whole and start at multiples
//                                                            of 16 bytes: no thread waits for another
//   by boxes, which are moved then: see panel_shifts.cuh     raw_stages > 0, and the sum goes on for 16 bytes behind
//                                                            the panel
//   by asynchronous copies of all threads, a barrier each    else, and the last one where the sum ends within it
//
// Constants: panel_shifts.cuh's, and
//   threads_per_block
//   stages             panels that shared memory holds; 2 where raw_stages > 0
//   stage_bytes        bytes of a stage, a multiple of 128
//   barrier_bytes      before the first stage, for the barriers that bulk copies complete on
//   copy_warps         warps that compute nothing, the block's last: where bulk copies may bring panels, else 0
#pragma once

#include "panel_shifts.cuh"

#if RICCI_BULK_COPIES
/// Two barriers a stage: `full` when a panel is there, `empty` when all warps that compute are done with it. All
/// lanes of a warp arrive: see batched_stationary's slice_ring.
struct ring_barriers {
    copy_barrier *full, *empty;
    explicit RICCI_FUNCTION ring_barriers(unsigned char* memory)
        : full(reinterpret_cast<copy_barrier*>(memory)), empty(full + stages) {}

    RICCI_FUNCTION void start() const {
        static_assert(2 * stages * static_cast<int>(sizeof(copy_barrier)) <= barrier_bytes, "the barriers' room");
        if (threadIdx.x == 0)
            for (int s = 0; s < stages; ++s)
                start_barrier(full[s], 32), start_barrier(empty[s], threads_per_block - 32 * copy_warps);
        __syncthreads();
    }

    /// By the copying warp.
    template <class X, class Y>
    RICCI_FUNCTION void ask_for(const X& x, const Y& y, unsigned char* memory, int panel) const {
        const int stage = panel % stages, turn = panel / stages;
        if (turn > 0) wait_barrier(empty[stage], (turn - 1) % 2);
        unsigned char* const into = stage_of(memory, panel);
        x.clear_steps_beyond(into, panel), y.clear_steps_beyond(into, panel);
        const bool asks = threadIdx.x % 32 == 0;
        arrive_expecting(full[stage], asks ? x.whole_bytes(panel) + y.whole_bytes(panel) : 0);
        if (asks) x.load_whole(into, panel, full[stage]), y.load_whole(into, panel, full[stage]);
    }

    RICCI_FUNCTION void wait_for(int panel) const { wait_barrier(full[panel % stages], panel / stages % 2); }

    RICCI_FUNCTION void release(int panel) const {
        show_to_copy_engine();
        arrive_expecting(empty[panel % stages], 0);
    }
};
#endif

/// Calls multiply(stage) for panels [0, panels) in their order, by all threads, but not by a copying warp for those
/// that it brings.
template <class X, class Y, class Multiply>
RICCI_FUNCTION void for_each_panel(const X& x, const Y& y, unsigned char* memory, int panels,
                                   const Multiply& multiply) {
    int by_bulk = 0; // the first ones
#if RICCI_BULK_COPIES
    if constexpr (raw_stages > 0) {
        const auto of_x = x.template shifted<shifted_lines>();
        const auto of_y = y.template shifted<shifted_lines>();
        by_bulk = of_y.panels_of_boxes(of_x.panels_of_boxes(panels));
        if (by_bulk > 0) for_each_shifted_panel(of_x, of_y, memory, by_bulk, multiply);
        __syncthreads(); // asynchronous copies may overwrite the stages
    } else if constexpr (copy_warps > 0) {
        const ring_barriers ring(memory);
        const int of_x = x.whole_panels(panels), of_y = y.whole_panels(panels);
        by_bulk = of_x < of_y ? of_x : of_y;
        if (by_bulk > 0) ring.start();
        const bool copies = threadIdx.x >= threads_per_block - 32 * copy_warps;
        RICCI_UNROLL_ONCE
        for (int p = 0; p < by_bulk; ++p) {
            if (copies) {
                ring.ask_for(x, y, memory, p);
                continue;
            }
            ring.wait_for(p);
            multiply(stage_of(memory, p));
            ring.release(p);
        }
        __syncthreads(); // asynchronous copies may overwrite the stages
    }
#endif
    constexpr int ahead = stages - 1;
    RICCI_UNROLL_ONCE
    for (int p = by_bulk - ahead; p < panels; ++p) { // below `by_bulk` panels are only asked for
        if (p >= by_bulk) {
            wait_async_copies<stages - 2>();
            __syncthreads(); // the panel is here for all, and all are done with the one before
        }
        const int next = p + ahead;
        if (next < panels) x.load(stage_of(memory, next), next), y.load(stage_of(memory, next), next);
        commit_async_copies();
        if (p < by_bulk) continue;
        bring_into_place(stage_of(memory, p), p, x, y);
        multiply(stage_of(memory, p));
    }
}
