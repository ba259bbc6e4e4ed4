// delay: keeps the GPU busy for some clocks, so that what is timed behind it is already queued. Stands behind
// scalar.hpp.

struct arguments {
    long long clocks;
};

extern "C" __global__ void bench_delay(const __grid_constant__ arguments a) {
#if RICCI_ON_GPU
    const long long begin = clock64();
    while (clock64() - begin < a.clocks) {
    }
#else
    (void)a;
#endif
}
