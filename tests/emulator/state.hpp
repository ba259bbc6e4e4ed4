// state: what an emulated kernel and the program that runs it share. Includes nothing: every kernel is compiled with
// it.
#pragma once

struct ricci_emulated_dim {
    unsigned x, y, z;
};

struct ricci_emulated_state {
    ricci_emulated_dim thread, block, threads, grid; ///< of the thread that is running
    void* shared;                                    ///< the block's dynamic shared memory
    /// Waits for all threads of the block. `line` is that of the call.
    void (*barrier)(int line);
    /// Waits until all lanes of `mask` made the same call; all[lane] is then what each gave, poison for other lanes.
    void (*exchange)(unsigned mask, int kind, int line, unsigned long long mine, unsigned long long* all);
    // The copy engine, see copy_engine.hpp.
    void (*start_barrier)(const void* barrier, int arrivals);
    void (*end_barrier)(const void* barrier);
    void (*arrive)(const void* barrier, int bytes);
    void (*wait)(const void* barrier, int parity);
    void (*bulk_load)(void* in_shared, const void* global, int bytes, const void* barrier);
    void (*bulk_store)(void* global, const void* in_shared, int bytes);
    void (*box_load)(void* in_shared, const unsigned long long* map, long long first, int line, int plane,
                     const void* barrier);
    void (*box_store)(const unsigned long long* map, long long first, int line, int plane, const void* in_shared);
    void (*wait_bulk_stores)(int pending);
    void (*async_copy)(void* in_shared, const void* global, int bytes, int valid);
    void (*commit_async_copies)();
    void (*wait_async_copies)(int pending);
};
