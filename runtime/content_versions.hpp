// content_versions: whether memory that only ricci writes still holds what it did.
#pragma once

#include "runtime/device.hpp"

#include <cstdint>

namespace ricci::runtime {

/// Another number each time the contents were written, never the same for two pieces of memory; 0 where nobody can
/// tell. `memory` is the address that track_contents was given.
std::uint64_t content_version(device d, const void* memory);

/// The memory is about to be released.
void forget_contents(device d, const void* memory) noexcept;

} // namespace ricci::runtime
