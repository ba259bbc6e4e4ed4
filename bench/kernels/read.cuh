// read: reads doubles, 16 bytes at a time, and writes nothing. Stands behind scalar.hpp. Constants: threads,
// chunks_a_thread.

struct __align__(16) chunk {
    double low, high;
};

struct arguments {
    double* result;
    const chunk* x;
    long long chunks, blocks;
};

extern "C" __global__ void __launch_bounds__(threads) bench_read(const __grid_constant__ arguments a) {
    const long long block = block_number();
    if (block >= a.blocks) return;
    constexpr long long chunks_a_block = threads * chunks_a_thread;
    double sum = 0;
    for (long long first = block * chunks_a_block; first < a.chunks; first += a.blocks * chunks_a_block) {
        chunk x[chunks_a_thread];
        RICCI_UNROLL
        for (int n = 0; n < chunks_a_thread; ++n) {
            const long long at = first + n * threads + threadIdx.x;
            if (at < a.chunks) x[n] = a.x[at];
            else x[n] = {0, 0};
        }
        RICCI_UNROLL
        for (int n = 0; n < chunks_a_thread; ++n) sum += x[n].low + x[n].high;
    }
    if (sum == 0x1.23456789abcdep300) *a.result = sum; // which no sum is: it only keeps the loads alive
}
