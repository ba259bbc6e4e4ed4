// compiled_product: what peers share that the system's compiler makes of a product with constant sizes.
#pragma once

#include "bench/peers/peer.hpp"

#include <ricci/runtime/cpu_threads.hpp>

#include <string>

namespace ricci::bench {

/// Whether a source with the sizes of `p` makes sense: f32, f64 or complex numbers of one type, no size above 128,
/// and each matrix with its rows or its columns in one piece.
bool is_compilable(const product& p);

/// The constants of kernels/product_cpu.hpp.
std::string constants_of(const product& p);

/// A contender that runs `batch`, a function of such a source, on all threads. `swapped`: A and B change places.
contender compiled_contender(std::string peer, std::string variant, runtime::cpu_kernel batch, bool swapped,
                             const product& p, std::span<const operand_set> sets);

} // namespace ricci::bench
