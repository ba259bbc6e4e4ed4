// in_parallel: what the bench runs on a CPU, on as many threads as ricci's.
#include "bench/in_parallel.hpp"

#include <ricci/runtime/backend.hpp>

#include <algorithm>

namespace ricci::bench {

namespace {

runtime::cpu_threads& threads() {
    static auto& all = *new runtime::cpu_threads;
    return all;
}

using part_of_batch = std::function<void(std::int64_t, std::int64_t)>;

std::uint64_t word_of(const part_of_batch& f) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&f));
}

void call(const std::uint64_t* words, std::int64_t first, std::int64_t last) {
    (*reinterpret_cast<const part_of_batch*>(words[0]))(first, last);
}

} // namespace

int thread_count() { return threads().count(); }

void in_parallel(std::int64_t count, std::int64_t smallest_part, runtime::cpu_kernel kernel,
                 const std::uint64_t* words) {
    if (count <= 0) return;
    if (threads().count() == 1 || count <= smallest_part) return kernel(words, 0, count);
    threads().run(kernel, words, count, smallest_part);
}

void in_parallel(std::int64_t count, std::int64_t smallest_part, const part_of_batch& f) {
    const auto word = word_of(f);
    in_parallel(count, smallest_part, call, &word);
}

void in_parallel_if_worth(std::int64_t count, double seconds_of_one, runtime::cpu_kernel kernel,
                          const std::uint64_t* words) {
    // by the backend's own threads: others would sleep while these wait for ricci's next statement
    runtime::launch_shape shape;
    shape.grid = count, shape.seconds_per_block = seconds_of_one;
    runtime::backend_of(cpu()).launch(reinterpret_cast<runtime::kernel_handle>(kernel), shape, {words, 1});
}

void in_parallel_if_worth(std::int64_t count, double seconds_of_one, const part_of_batch& f) {
    const auto word = word_of(f);
    in_parallel_if_worth(count, seconds_of_one, call, &word);
}

double seconds_of_one(const product& p) {
    const lowering::machine& chip = runtime::backend_of(cpu()).machine();
    const bool is_double = lowering::real_of(compute_type(p)) == lowering::scalar_type::f64;
    const double seconds = std::max(flops_of(p) / (is_double ? chip.flops_f64 : chip.flops_f32),
                                    touched_bytes_of(p) / chip.bandwidth) *
                           chip.processors; // of one thread
    return seconds / static_cast<double>(std::max<std::int64_t>(p.batch, 1));
}

} // namespace ricci::bench
