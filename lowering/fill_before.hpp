// fill_before: the step that sets what another one adds to: `y(g) = 0` before `y(l(i,e)) += v(i,e)`.
#pragma once

#include "lowering/plan.hpp"

#include <cstddef>
#include <optional>

namespace ricci::lowering {

/// Of a step that adds through tables with equal entries, in order: the step before it that sets every element such
/// tables could name, and no other, to one scalar, if no step between the two meets that memory. Where there is a row
/// for each of the elements the one pass may then do both.
std::optional<std::size_t> fill_before(const plan& p, std::size_t adding);

/// The scalar that such a step sets elements to; nothing for other steps.
std::optional<std::int32_t> filled_with(const step& st);

} // namespace ricci::lowering
