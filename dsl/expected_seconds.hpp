// expected_seconds: which of several ways to compute something the cost model expects to be the fastest.
#pragma once

#include "dsl/collect.hpp"
#include "runtime/device.hpp"
#include "runtime/run.hpp"

#include <concepts>

namespace ricci {

/// Seconds that the cost model expects the statements of `body` to take on their device, as one program where they
/// would be fused. Runs and compiles nothing. A number to choose by, between two ways to compute the same; what a
/// statement really takes depends on more than the model knows.
template <std::invocable Body>
double expected_seconds(Body&& body) {
    const runtime::kept_memory until_lowered; // tensors that the callable creates
    return runtime::expected_seconds(dsl::collected(body));
}

} // namespace ricci
