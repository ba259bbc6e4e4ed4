// device_under_test: the device that a test program of this folder was compiled for.
#pragma once

#include "runtime/backend.hpp"
#include "tests/skip.hpp"
#if RICCI_TEST_DEVICE < 0
#include "tests/emulator/emulator.hpp"
#endif

namespace ricci::tests {

/// Its code; starts the emulator, or ends the program as skipped where there is no GPU.
inline std::int32_t device_under_test() {
#if RICCI_TEST_DEVICE < 0
    register_emulator();
#elif RICCI_TEST_DEVICE > 0
    test::skip_unless(runtime::cuda_device_count() > 0, "no usable GPU");
#endif
    return RICCI_TEST_DEVICE;
}

/// Such a chip of one processor, for which a test's small products are as much to do as large ones for others: what
/// candidates there are does not otherwise depend on their number.
inline lowering::machine of_few_processors(lowering::machine chip) {
    chip.processors = 1;
    return chip;
}

} // namespace ricci::tests
