// cpu_machine: what lowering is told of a CPU, from its features alone; nothing is measured.
#pragma once

#include "lowering/machine.hpp"

#include <string>
#include <vector>

namespace ricci::runtime {

/// A CPU of this architecture, as cpu_vector_features says it, of which `threads` are used. The BLAS and the compiler
/// are the caller's to add.
lowering::machine cpu_machine(std::string architecture, int threads);

/// What a compiler is told of it beside -march or -mcpu.
std::vector<std::string> code_options(const std::string& architecture);

} // namespace ricci::runtime
