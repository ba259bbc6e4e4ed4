// random_fill: real numbers from random_value. Stands behind scalar.hpp and random_value.hpp. Constants:
// element_type.

struct arguments {
    void* data;
    long long count;
    unsigned long long seed;
    long long digits;
    double scale;
};

constexpr int fill_threads = 256, values_a_thread = 16;

extern "C" __global__ void __launch_bounds__(fill_threads) bench_random_fill(const __grid_constant__ arguments a) {
    using element = type_of<element_type>::type;
    long long place = block_number() * (fill_threads * values_a_thread) + threadIdx.x;
    for (int n = 0; n < values_a_thread && place < a.count; ++n, place += fill_threads)
        static_cast<element*>(a.data)[place] = store_as<element>(
            random_value(a.seed, static_cast<unsigned long long>(place), static_cast<int>(a.digits), a.scale));
}
