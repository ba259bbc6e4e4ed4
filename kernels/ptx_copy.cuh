// ptx_copy: asynchronous copies into shared memory: a thread's own (cp.async), and those of the bulk-copy engine
// (cp.async.bulk, sm_90 and later) with the shared-memory barriers they complete on.
#pragma once

#include "ptx.cuh"

// Before sm_80 a thread's own copies are plain ones.
#if RICCI_ON_GPU
#define RICCI_ASYNC_COPIES (__CUDA_ARCH__ >= 800)
#else
#define RICCI_ASYNC_COPIES 1
#endif

#if RICCI_ON_GPU
RICCI_FUNCTION unsigned shared_address(const void* in_shared) {
    return static_cast<unsigned>(__cvta_generic_to_shared(in_shared));
}
#endif

/// Starts to copy 4, 8 or 16 bytes, both addresses multiples of it; of them `valid` come from global memory, the rest
/// are zero.
template <int Bytes> RICCI_FUNCTION void async_copy(void* in_shared, const void* global, int valid) {
#if !RICCI_ASYNC_COPIES
    for (int i = 0; i < Bytes / 2; ++i)
        static_cast<unsigned short*>(in_shared)[i] =
            2 * i < valid ? static_cast<const unsigned short*>(global)[i] : static_cast<unsigned short>(0);
#elif RICCI_ON_GPU
    if constexpr (Bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(in_shared)),
                     "l"(__cvta_generic_to_global(global)), "r"(valid)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(in_shared)),
                     "l"(__cvta_generic_to_global(global)), "n"(Bytes), "r"(valid)
                     : "memory");
#else
    ricci_emulated->async_copy(in_shared, global, Bytes, valid);
#endif
}

/// What this thread has started since the last call becomes a group.
RICCI_FUNCTION void commit_async_copies() {
#if !RICCI_ASYNC_COPIES
#elif RICCI_ON_GPU
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
    ricci_emulated->commit_async_copies();
#endif
}

/// Waits until at most `Pending` of this thread's groups, the youngest, are under way.
template <int Pending> RICCI_FUNCTION void wait_async_copies() {
#if !RICCI_ASYNC_COPIES
#elif RICCI_ON_GPU
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#else
    ricci_emulated->wait_async_copies(Pending);
#endif
}

/// Asks for the cache line of an address that is read later.
RICCI_FUNCTION void prefetch_to_l2(const void* global) {
#if RICCI_ON_GPU
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(global)));
#else
    static_cast<void>(*static_cast<const volatile char*>(global)); // for AddressSanitizer
#endif
}

/// Asks for the first `valid` bytes of a line of `Bytes`: on sm_90 and later by one instruction.
template <int Bytes> RICCI_FUNCTION void prefetch_line_to_l2(const void* global, int valid) {
#if RICCI_ON_GPU && __CUDA_ARCH__ >= 900
    const unsigned long long first = reinterpret_cast<unsigned long long>(global) & ~15ull,
                             end = reinterpret_cast<unsigned long long>(global) + valid;
    const void* const aligned = reinterpret_cast<const void*>(first);
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(aligned)),
                 "r"(static_cast<unsigned>(end - first + 15) & ~15u));
#else
    for (int at = 0; at < Bytes; at += 128)
        if (at < valid) prefetch_to_l2(static_cast<const char*>(global) + at);
#endif
}

#if RICCI_ON_GPU
#define RICCI_BULK_COPIES (__CUDA_ARCH__ >= 900)
#else
#define RICCI_BULK_COPIES 1 // the emulator's twins
#endif

#if RICCI_BULK_COPIES

/// Completes a phase when all its arrivals and all bytes it was told to expect are there. In shared memory, 8-byte
/// aligned.
struct copy_barrier {
    unsigned long long state;
};

/// By one thread, before any other use; makes the barrier known to the copy engine.
RICCI_FUNCTION void start_barrier(copy_barrier& b, int arrivals) {
#if RICCI_ON_GPU
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&b)), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
    ricci_emulated->start_barrier(&b, arrivals);
#endif
}

/// Arrives, after which the phase also waits for `bytes` of copies.
RICCI_FUNCTION void arrive_expecting(copy_barrier& b, int bytes) {
#if RICCI_ON_GPU
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&b)), "r"(bytes)
                 : "memory");
#else
    ricci_emulated->arrive(&b, bytes);
#endif
}

/// Arrives when the copies that this thread has started by async_copy are there. The phase must have an arrival left
/// for it.
RICCI_FUNCTION void arrive_after_async_copies(copy_barrier& b) {
#if RICCI_ON_GPU
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&b)) : "memory");
#else
    ricci_emulated->commit_async_copies();
    ricci_emulated->wait_async_copies(0);
    ricci_emulated->arrive(&b, 0);
#endif
}

/// Waits for the end of the phase of this parity: 0 for the first.
RICCI_FUNCTION void wait_barrier(copy_barrier& b, int parity) {
#if RICCI_ON_GPU
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(shared_address(&b)), "r"(parity)
                 : "memory");
#else
    ricci_emulated->wait(&b, parity);
#endif
}

/// The same by a whole warp, which votes: NVRTC then knows that the warp is together still, and makes no second code
/// for lanes that part.
RICCI_FUNCTION void wait_barrier_by_warp(copy_barrier& b, int parity) {
#if RICCI_ON_GPU
    unsigned is_over;
    do
        asm volatile("{\n"
                     ".reg .pred over;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, over;\n"
                     "}"
                     : "=r"(is_over)
                     : "r"(shared_address(&b)), "r"(parity)
                     : "memory");
    while (__any_sync(0xffffffffu, is_over == 0));
#else
    ricci_emulated->wait(&b, parity);
    __syncwarp();
#endif
}

/// By one thread, when nobody uses the barrier any more: its memory may become something else.
RICCI_FUNCTION void end_barrier(copy_barrier& b) {
#if RICCI_ON_GPU
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(&b)) : "memory");
#else
    ricci_emulated->end_barrier(&b);
#endif
}

/// Copies `bytes` from global to shared memory; both addresses and `bytes` are multiples of 16.
RICCI_FUNCTION void bulk_load(void* in_shared, const void* global, int bytes, copy_barrier& b) {
#if RICCI_ON_GPU
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(in_shared)),
                 "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(&b))
                 : "memory");
#else
    ricci_emulated->bulk_load(in_shared, global, bytes, &b);
#endif
}

/// Copies `bytes` from shared to global memory; both addresses and `bytes` are multiples of 16.
RICCI_FUNCTION void bulk_store(void* global, const void* in_shared, int bytes) {
#if RICCI_ON_GPU
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(global)),
        "r"(shared_address(in_shared)), "r"(bytes)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
    ricci_emulated->bulk_store(global, in_shared, bytes);
#endif
}

/// Waits until the bulk stores of this thread, but the `Pending` youngest, have read shared memory; a block must not
/// end before all have.
template <int Pending = 0> RICCI_FUNCTION void wait_bulk_stores() {
#if RICCI_ON_GPU
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
#else
    ricci_emulated->wait_bulk_stores(Pending);
#endif
}

/// By every thread that wrote shared memory, before the barrier behind which the copy engine reads it.
RICCI_FUNCTION void show_to_copy_engine() {
#if RICCI_ON_GPU
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#endif
