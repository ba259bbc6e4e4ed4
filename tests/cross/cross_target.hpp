// cross_target: machines that kernels are tried for: compiler, emulator, and what lowering is told of them.
#pragma once

#include "lowering/machine.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ricci::tests {

enum class instruction_set { x86_64, aarch64, powerpc64le };

struct cross_target {
    std::string_view name;
    instruction_set machine{};
    std::string compiler;
    std::vector<std::string> options;  ///< of its architecture
    std::string architecture;          ///< as cpu_vector_features would say it there
    std::vector<std::string> emulator; ///< with its options; empty: kernels run on this CPU
    std::vector<std::string> features; ///< that this CPU must have then

    std::string driver() const; ///< the program that runs kernels; a path
    std::string objdump() const;
    /// What the compiler gets of the machine, as ricci itself would call it there.
    std::vector<std::string> all_options() const;
    lowering::machine chip() const;
    /// Whether it multiplies and adds at once. Where not, products wait in registers, and x86 has few.
    bool fuses() const;
    /// Why the machine cannot be tried here; empty if it can.
    std::string missing() const;
};

/// Throws std::logic_error for an unknown name.
cross_target cross_target_named(std::string_view name);

} // namespace ricci::tests
