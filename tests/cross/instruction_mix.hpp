// instruction_mix: what a kernel multiplies with, by its instructions: vectors or single numbers.
#pragma once

#include "tests/cross/cross_target.hpp"
#include "tests/cross/disassembly.hpp"

#include <span>
#include <string>

namespace ricci::tests {

/// How many instructions of a kernel's text, however often each runs.
struct instruction_mix {
    int vector_multiplies = 0, scalar_multiplies = 0; ///< floating-point ones, with an addition where the machine can
    int stack_moves = 0; ///< of whole vectors
};

instruction_mix instruction_mix_of(std::span<const instruction> code, const cross_target& target);

/// The same of the innermost loop in which most of the instructions multiply; of the whole code if none does.
instruction_mix densest_loop_mix_of(std::span<const instruction> code, const cross_target& target);

/// Of all multiplies those by vectors; 1 where there are none.
double share_of_vectors(const instruction_mix& mix);

std::string to_text(const instruction_mix& mix);

} // namespace ricci::tests
