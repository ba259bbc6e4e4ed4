// cpu_memory: memory of malloc and calloc, aligned, in huge pages where Linux gives them.
#include "runtime/cpu_memory.hpp"

#include "lowering/error.hpp"

#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/mman.h>

namespace ricci::runtime {
namespace {

constexpr std::size_t line = 64, huge_page = std::size_t{2} << 20;

/// `bytes` from `take`, aligned; the address that `take` gave stands before them.
template <class Take> void* aligned(std::size_t bytes, Take take) {
    if (bytes == 0) return nullptr;
    const std::size_t alignment = bytes < huge_from ? line : huge_page, extra = alignment + sizeof(void*);
    void* raw = bytes <= PTRDIFF_MAX - extra ? take(bytes + extra) : nullptr;
    if (!raw) throw memory_error(fmt::format("not enough memory on the CPU for {} bytes", bytes));
    const auto first = reinterpret_cast<std::uintptr_t>(raw) + sizeof(void*);
    auto* memory = reinterpret_cast<void**>((first + alignment - 1) / alignment * alignment);
    memory[-1] = raw;
    // What is left behind the last huge page stays in small ones. A system without huge pages refuses.
    if (alignment == huge_page) madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
    return memory;
}

} // namespace

void* take_host_memory(std::size_t bytes) { return aligned(bytes, std::malloc); }

// calloc takes big pieces from the system, which zeroes a page when it is first touched.
void* take_zeroed_host_memory(std::size_t bytes) {
    return aligned(bytes, [](std::size_t size) { return std::calloc(size, 1); });
}

void release_host_memory(void* memory) noexcept {
    if (memory) std::free(static_cast<void**>(memory)[-1]);
}

} // namespace ricci::runtime
