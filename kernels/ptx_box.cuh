// ptx_box: boxes of a matrix, moved at once between global and shared memory by the bulk-copy engine (tensor maps,
// cp.async.bulk.tensor, sm_90 and later).
//
// A box is a part of each of some lines, or of those of some planes. It lies line after line; where lines are 128
// bytes and the map says so, the eight pieces of 16 bytes of line l in the order p ^ (l % 8), so that eight lines'
// pieces at one place lie on different banks. What it has beyond the matrix is zero, and is not stored; but 16 bytes
// in which a line ends are not cut. A warp an SM that asks for lines of 256 bytes one by one gets 0.9 TB/s of an
// H200, one thread that asks for boxes 4.1, however long the lines; whole spans come at 4.2.
#pragma once

#include "product.hpp"
#include "ptx_copy.cuh"

constexpr int box_line = 128; ///< bytes

/// Where byte `byte` of line `line` of a box lies.
RICCI_FUNCTION constexpr int place_in_box(int line, int byte) { return line * box_line + (byte ^ line % 8 << 4); }

#if RICCI_BULK_COPIES

/// Copies a box to shared memory, at a multiple of 1024 bytes; `first`: its first element in each line, of 8 bytes or
/// less; `line`: its first one.
RICCI_FUNCTION void box_load(void* in_shared, const box_map& map, long long first, int line, copy_barrier& b) {
#if RICCI_ON_GPU
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(shared_address(in_shared)),
                 "l"(&map), "r"(static_cast<int>(first)), "r"(line), "r"(shared_address(&b))
                 : "memory");
#else
    ricci_emulated->box_load(in_shared, map.word, static_cast<int>(first), line, 0, &b);
#endif
}

/// Copies a box from shared memory, as box_load to it. wait_bulk_stores waits for it.
RICCI_FUNCTION void box_store(const box_map& map, long long first, int line, const void* in_shared) {
#if RICCI_ON_GPU
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                 "r"(static_cast<int>(first)), "r"(line), "r"(shared_address(in_shared))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
    ricci_emulated->box_store(map.word, static_cast<int>(first), line, 0, in_shared);
#endif
}

/// The same of planes, whose lines are not exchanged: a multiple of 128 bytes is enough.
RICCI_FUNCTION void box_load(void* in_shared, const box_map& map, long long first, int line, int plane,
                             copy_barrier& b) {
#if RICCI_ON_GPU
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
                 "%4}], [%5];" ::"r"(shared_address(in_shared)),
                 "l"(&map), "r"(static_cast<int>(first)), "r"(line), "r"(plane), "r"(shared_address(&b))
                 : "memory");
#else
    ricci_emulated->box_load(in_shared, map.word, static_cast<int>(first), line, plane, &b);
#endif
}
RICCI_FUNCTION void box_store(const box_map& map, long long first, int line, int plane, const void* in_shared) {
#if RICCI_ON_GPU
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map),
                 "r"(static_cast<int>(first)), "r"(line), "r"(plane), "r"(shared_address(in_shared))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
    ricci_emulated->box_store(map.word, static_cast<int>(first), line, plane, in_shared);
#endif
}

#endif
