// plain_product: what one writes first: a thread an element of C, and a loop over k. Stands behind
// product_operands.cuh.

struct arguments {
    operands o;
};

constexpr int plain_threads = 256;

extern "C" __global__ void __launch_bounds__(plain_threads) bench_plain_product(const __grid_constant__ arguments a) {
    const long long place = block_number() * plain_threads + threadIdx.x;
    if (place >= a.o.elements) return;
    const places at = places_of(a.o, place);
    compute sum = from_real<compute>(0, 0);
    for (long long p = 0; p < a.o.k; ++p)
        sum += load_a<compute>(a.o, at.a + p * a.o.a_step) * load_b<compute>(a.o, at.b + p * a.o.b_step);
    c_element& c = static_cast<c_element*>(a.o.c)[at.c];
    if (accumulate) sum = load_as<compute>(c) + sum;
    c = store_as<c_element>(sum);
}
