// triad: z = x + 3*y in doubles, 16 bytes at a time, all loads of a thread before its stores. Stands behind
// scalar.hpp.
// Constants: threads, chunks_a_thread.

struct __align__(16) chunk {
    double low, high;
};

struct arguments {
    chunk* z;
    const chunk* x;
    const chunk* y;
    long long chunks;
};

extern "C" __global__ void __launch_bounds__(threads) bench_triad(const __grid_constant__ arguments a) {
    const long long first = block_number() * (threads * chunks_a_thread) + threadIdx.x;
    chunk x[chunks_a_thread], y[chunks_a_thread];
    RICCI_UNROLL
    for (int n = 0; n < chunks_a_thread; ++n)
        if (first + n * threads < a.chunks) x[n] = a.x[first + n * threads], y[n] = a.y[first + n * threads];
    RICCI_UNROLL
    for (int n = 0; n < chunks_a_thread; ++n)
        if (first + n * threads < a.chunks)
            a.z[first + n * threads] = {x[n].low + 3 * y[n].low, x[n].high + 3 * y[n].high};
}
