// winograd_layer: a convolution by minimal filtering as a plan, for tests that never run it.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

namespace ricci::tests {

/// Eight square pictures of `side` pixels by F(m, taps) in both directions; their elements, the filters' and the
/// outputs' are of `type`.
lowering::plan winograd_layer(int m, int taps, int side, int channels, int filters, const lowering::machine& chip,
                              const char* type = "f32");

} // namespace ricci::tests
