// cpu_memory: the host's memory for operands.
#pragma once

#include <cstddef>

namespace ricci::runtime {

/// `bytes` that begin at a multiple of 64 bytes, nullptr for none. From huge_from bytes on they begin at a multiple
/// of 2 MB, and Linux is asked for pages of that size (a batch's operands, a cache line here and one there, have more
/// pages of 4 KB than a core keeps addresses of: f64 batches from memory are 5 to 17 % faster). No page is touched,
/// and so none has a place in memory yet. Throws memory_error.
void* take_host_memory(std::size_t bytes);
/// The same, all zero.
void* take_zeroed_host_memory(std::size_t bytes);
void release_host_memory(void* memory) noexcept;

inline constexpr std::size_t huge_from = std::size_t{4} << 20;

} // namespace ricci::runtime
