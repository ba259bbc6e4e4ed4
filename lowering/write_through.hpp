// write_through: a step that computes a temporary writes what another one copies it to.
#pragma once

#include "lowering/plan.hpp"

#include <optional>

namespace ricci::lowering {

/// `writer` with the left side of `copy`, which does nothing but copy or add the temporary that `writer` assigns;
/// nothing where `copy` is another kind of step, or goes through the temporary in another way than by its dimensions.
std::optional<step> write_through(const step& writer, const step& copy);

} // namespace ricci::lowering
