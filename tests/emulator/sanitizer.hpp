// sanitizer: AddressSanitizer's annotations, nothing where the program is built without it.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define RICCI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RICCI_ASAN 1
#endif
#endif
#ifndef RICCI_ASAN
#define RICCI_ASAN 0
#endif

#if RICCI_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace ricci::tests {

inline void forbid([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#if RICCI_ASAN
    __asan_poison_memory_region(memory, bytes);
#endif
}

inline void permit([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#if RICCI_ASAN
    __asan_unpoison_memory_region(memory, bytes);
#endif
}

/// Before a switch to the stack at `bottom`; `kept` null: the stack that is left ends.
inline void leave_stack([[maybe_unused]] void** kept, [[maybe_unused]] const void* bottom,
                        [[maybe_unused]] std::size_t bytes) {
#if RICCI_ASAN
    __sanitizer_start_switch_fiber(kept, bottom, bytes);
#endif
}

/// After it; gives the stack that was left.
inline void enter_stack([[maybe_unused]] void* kept, [[maybe_unused]] const void** bottom,
                        [[maybe_unused]] std::size_t* bytes) {
#if RICCI_ASAN
    __sanitizer_finish_switch_fiber(kept, bottom, bytes);
#endif
}

} // namespace ricci::tests
