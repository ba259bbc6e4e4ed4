// cpu_facts: what the system tells of its processor: caches and memory.
#pragma once

#include <ricci/runtime/device.hpp>

#include <cstdint>

namespace ricci::bench {

/// Of the cache of this level, one core's where cores have their own; 0 where unknown.
std::int64_t cache_bytes(int level);

/// Of main memory; 0 where unknown.
std::int64_t memory_bytes();

/// What operands and yardsticks of a CPU must exceed to come from memory: twice the last cache, if memory has room.
std::int64_t beyond_cpu_caches();

/// What all operands together may take in the caches: half of L2, for each thread. Throws ricci::error for a GPU, and
/// where the size of L2 is not known.
std::int64_t in_cache_bytes(device where);

} // namespace ricci::bench
