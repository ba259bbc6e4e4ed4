// device_under_test: the device that this run of a test program of this folder is for, and how much of it is run.
#pragma once

#include "lowering/machine.hpp"

#include <cstddef>
#include <cstdint>

namespace ricci::tests {

/// The code of the environment's RICCI_TEST_DEVICE: "cpu", which is also what none stands for, "cuda" or "emulator".
/// Ends the program where it is none of these.
std::int32_t device_code();

/// The same; starts the emulator, or ends the program as skipped where there is no GPU.
std::int32_t device_under_test();

inline bool is_emulated() { return device_code() < 0; }

/// RICCI_TEST_N: how many cases, candidates or kernels this run takes; what it counts is the test's.
std::size_t count_of_run(std::size_t otherwise = 1);

/// Such a chip of one processor, for which a test's small products are as much to do as large ones for others: what
/// candidates there are does not otherwise depend on their number.
inline lowering::machine of_few_processors(lowering::machine chip) {
    chip.processors = 1;
    return chip;
}

} // namespace ricci::tests
