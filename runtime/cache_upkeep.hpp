// cache_upkeep: keeps the cache's directory within its capacity, lists it and clears it.
#pragma once

#include <cstdint>

namespace ricci::runtime {

/// To be called after `written` bytes were stored: removes the least recently used entries above the capacity, and
/// what killed processes left. Looks at the directory only now and then. list_cache and clear_cache:
/// kernel_cache.hpp.
void keep_to_capacity(std::uint64_t written);

} // namespace ricci::runtime
