// emulator: a backend that compiles CUDA kernels with the host compiler and runs their threads on the CPU.
#pragma once

#include "runtime/backend.hpp"

#include <memory>

namespace ricci::tests {

inline constexpr std::int32_t emulator_device = -1;

/// A small GPU (4 processors, else like sm_90). Shared memory is poisoned with NaNs before each block and has guards
/// around it; threads and blocks run in random order (RICCI_TEST_SEED). Under AddressSanitizer the kernel is built
/// with it too. launch() returns when the kernel has ended and throws ricci::error for what a GPU would hang or trap
/// on.
std::unique_ptr<runtime::backend> make_emulator();

/// Makes it the backend of emulator_device; may be called again.
void register_emulator();

} // namespace ricci::tests
