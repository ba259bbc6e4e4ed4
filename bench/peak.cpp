// peak: independent chains of multiply-adds, compiled for this machine.
#include "bench/peak.hpp"

#include "bench/in_parallel.hpp"
#include "bench/native_code.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace ricci::bench {

namespace {

constexpr std::int64_t steps = 10'000; ///< of a block: about 50 us
constexpr int blocks_a_thread = 40, repetitions = 25; // long enough to see every thread undisturbed once

template <class Real>
double fastest(runtime::cpu_kernel chains, double flops_a_step) {
    const std::int64_t blocks = std::int64_t{blocks_a_thread} * thread_count();
    std::vector<Real> numbers(static_cast<std::size_t>(2 + blocks), Real(0.5));
    const std::uint64_t words[] = {word_of(numbers.data()), static_cast<std::uint64_t>(steps)};
    double best = 0;
    for (int n = 0; n < repetitions; ++n) {
        const auto begin = std::chrono::steady_clock::now();
        in_parallel(blocks, 1, chains, words);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        best = std::max(best, flops_a_step * static_cast<double>(steps * blocks) / seconds);
    }
    return best;
}

} // namespace

peak measure_peak() {
    const auto functions = native_functions(native_source("", {"vectors_cpu.hpp", "peak_cpu.hpp"}), 3);
    double flops_a_step[2] = {};
    const std::uint64_t word = word_of(flops_a_step);
    functions[2](&word, 0, 1);
    return {fastest<double>(functions[0], flops_a_step[0]), fastest<float>(functions[1], flops_a_step[1])};
}

} // namespace ricci::bench
