// peak_cpu: multiply-adds on registers alone, as many as a core can start. Stands behind vectors_cpu.hpp.

/// Chains that do not wait for each other: more than any core has multiply-adds under way, with registers left for
/// what they multiply with and add.
constexpr int chains = vector_registers * 3 / 4;

/// Each block does `steps` multiply-adds on each chain; what comes out is stored, so that it is computed.
template <class Real> void run_chains(const unsigned long* words, long first, long last) {
    typedef Real vector __attribute__((vector_size(vector_bytes)));
    auto* const out = reinterpret_cast<Real*>(words[0]);
    const auto steps = static_cast<long>(words[1]);
    const Real factor = out[0], addend = out[1]; // numbers that the compiler does not know
    for (long block = first; block < last; ++block) {
        vector sum[chains];
#pragma GCC unroll 32
        for (int c = 0; c < chains; ++c) sum[c] = vector{} + addend * static_cast<Real>(c);
        for (long step = 0; step < steps; ++step) {
#pragma GCC unroll 32
            for (int c = 0; c < chains; ++c) sum[c] = sum[c] * factor + addend;
        }
        vector all{};
#pragma GCC unroll 32
        for (int c = 0; c < chains; ++c) all += sum[c];
        out[2 + block] = all[0];
    }
}

/// What one step is, in f64 and in f32.
inline void flops_a_step(const unsigned long* words, long, long) {
    auto* const out = reinterpret_cast<double*>(words[0]);
    out[0] = 2.0 * chains * (vector_bytes / 8), out[1] = 2.0 * chains * (vector_bytes / 4);
}

extern "C" void native_functions(const unsigned long* words, long, long) {
    auto* const all = reinterpret_cast<void (**)(const unsigned long*, long, long)>(words[0]);
    all[0] = run_chains<double>, all[1] = run_chains<float>, all[2] = flops_a_step;
}
