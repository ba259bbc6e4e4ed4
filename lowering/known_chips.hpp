// known_chips: machines by name, for plans on a machine that has no such chip.
#pragma once

#include "lowering/machine.hpp"

#include <optional>
#include <string_view>

namespace ricci::lowering {

inline constexpr std::string_view known_chip_names = "a100, h100, h200";

/// What the CUDA backend would say of it.
std::optional<machine> known_chip(std::string_view name);

} // namespace ricci::lowering
