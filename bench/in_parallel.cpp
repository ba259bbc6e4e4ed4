// in_parallel: what the bench runs on a CPU, on as many threads as ricci's.
#include "bench/in_parallel.hpp"

#include <ricci/runtime/backend.hpp>

#include <algorithm>
#include <cmath>

namespace ricci::bench {

namespace {

runtime::cpu_threads& threads() {
    static auto& all = *new runtime::cpu_threads;
    return all;
}

} // namespace

int thread_count() { return threads().count(); }

void in_parallel(std::int64_t count, std::int64_t smallest_part, runtime::cpu_kernel kernel,
                 const std::uint64_t* words) {
    if (count <= 0) return;
    if (threads().count() == 1 || count <= smallest_part) return kernel(words, 0, count);
    threads().run(kernel, words, count, smallest_part);
}

void in_parallel(std::int64_t count, std::int64_t smallest_part,
                 const std::function<void(std::int64_t, std::int64_t)>& f) {
    const auto word = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&f));
    in_parallel(
        count, smallest_part,
        [](const std::uint64_t* words, std::int64_t first, std::int64_t last) {
            (*reinterpret_cast<const std::function<void(std::int64_t, std::int64_t)>*>(words[0]))(first, last);
        },
        &word);
}

std::int64_t smallest_part_of(const product& p) {
    const lowering::machine& chip = runtime::backend_of(cpu()).machine();
    const bool is_double = lowering::real_of(compute_type(p)) == lowering::scalar_type::f64;
    const double seconds = std::max(flops_of(p) / (is_double ? chip.flops_f64 : chip.flops_f32),
                                    touched_bytes_of(p) / chip.bandwidth) *
                           chip.processors; // of one thread
    if (seconds < runtime::worth_threads) return p.batch;
    return static_cast<std::int64_t>(std::ceil(runtime::worth_a_task / seconds * static_cast<double>(p.batch)));
}

} // namespace ricci::bench
