// program_cases: programs written by hand, each for something that can go wrong where statements are fused.
#pragma once

#include "tests/kernels/random_program.hpp"

#include <cstdint>
#include <span>

namespace ricci::tests {

struct program_case {
    std::vector<std::string> statements;
    const char *operands, *locals;
    /// How many it is to be, with what is fused; 0: nothing is, and its statements run one by one.
    int kernels_on_cpu, kernels_on_gpu;
    int kernels_on(std::int32_t device_code) const { return device_code == 0 ? kernels_on_cpu : kernels_on_gpu; }
};

std::span<const program_case> programs_by_hand();

random_program as_program(const program_case& c);

} // namespace ricci::tests
