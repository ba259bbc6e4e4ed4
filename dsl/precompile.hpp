// precompile: the kernels of a program made before it runs.
#pragma once

#include "dsl/collect.hpp"
#include "runtime/device.hpp"
#include "runtime/run.hpp"

#include <concepts>

namespace ricci {

/// Compiles the kernels of each statement of `body` on all threads of the host, and keeps them in the cache; runs
/// none. When the statements run, and when others do that differ from them in batch extents, numbers and pointers (as
/// well aligned) alone, in this process or a later one, nothing is compiled. `body` may be a program that record()
/// returned. Throws ricci::error as the statements would.
template <std::invocable Body>
void precompile(Body&& body) {
    const runtime::kept_memory until_prepared; // tensors that the callable creates
    runtime::prepare(dsl::collected(body));
}

} // namespace ricci
