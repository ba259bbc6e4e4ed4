// in_parallel: what the bench runs on a CPU, its own loops and the peers, is spread over as many threads as ricci's.
#pragma once

#include "bench/product.hpp"

#include <ricci/runtime/cpu_threads.hpp>

#include <cstdint>
#include <functional>

namespace ricci::bench {

/// RICCI_NUM_THREADS, or all processors.
int thread_count();

/// f(first, last) on parts of [0, count) of at least `smallest_part`; here, without a thread woken, if that is one
/// part.
void in_parallel(std::int64_t count, std::int64_t smallest_part,
                 const std::function<void(std::int64_t, std::int64_t)>& f);

/// The same for compiled code.
void in_parallel(std::int64_t count, std::int64_t smallest_part, runtime::cpu_kernel kernel,
                 const std::uint64_t* words);

/// The same for products of a batch, by ricci's own rule: on threads where these are worth it.
void in_parallel_if_worth(std::int64_t count, double seconds_of_one, runtime::cpu_kernel kernel,
                          const std::uint64_t* words);
void in_parallel_if_worth(std::int64_t count, double seconds_of_one,
                          const std::function<void(std::int64_t, std::int64_t)>& f);

/// What one product takes a thread at the machine's rates.
double seconds_of_one(const product& p);

} // namespace ricci::bench
