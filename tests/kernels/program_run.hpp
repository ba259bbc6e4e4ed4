// program_run: a program on a device, fused where it can be, against the oracle statement by statement.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "tests/kernels/random_program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ricci::tests {

/// What to fill a program's inputs with: integers, of which every lost product shows, or numbers in [-1, 1].
enum class program_data : std::uint8_t { integers, unit };

struct program_outcome {
    std::string report; ///< what differs, or nothing
    /// Of a program in which something is fused: chains, and steps outside of them that zeros before additions are
    /// not; else 0.
    int kernels = 0;
    std::vector<lowering::family> families; ///< of the steps, where the program was planned for a chip
};

/// Its data and tables come from the seed. `plan_for`: as one program planned for such a chip instead of the device;
/// `kernels` are then all of its steps.
program_outcome run_program(const random_program& p, std::uint64_t seed, std::int32_t device_code, program_data fill,
                            const lowering::machine* plan_for = nullptr);

} // namespace ricci::tests
