// cross_backend: a backend whose kernels are another machine's: the program `driver` runs them, perhaps under an
// emulator, on memory that it shares with this process.
#pragma once

#include "runtime/backend.hpp"
#include "tests/cross/cross_target.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace ricci::tests {

inline constexpr std::int32_t cross_device = -2;

/// What its handles point to.
struct cross_kernel {
    std::filesystem::path object; ///< as long as the backend lives
    std::string entry;
};

/// launch() throws ricci::error where the kernel died.
std::unique_ptr<runtime::backend> make_cross_backend(const cross_target& target);

/// Makes it the backend of cross_device, for one target a process.
void register_cross_backend(const cross_target& target);

} // namespace ricci::tests
