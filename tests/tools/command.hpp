// command: runs the built `ricci`, or another program, and takes what it prints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ricci::tests {

struct outcome {
    int code = -1; ///< the exit code; 128 + the signal's number where one ended it
    std::string out, err;
};

struct surroundings {
    std::filesystem::path folder;         ///< the working directory
    std::vector<std::string> environment; ///< NAME=VALUE, in addition to the test's own and RICCI_DEVICE=cpu
    std::uint64_t largest_file = 0;       ///< bytes that a file may grow to; 0: any
    std::string output = {};              ///< the file that the output goes to; empty: it is returned
};

/// Runs a program, whose path stands first. Kernels are cached in one folder for the whole test program.
outcome run_command(const std::vector<std::string>& words, const surroundings& where);

/// Runs `ricci arguments...`.
outcome ricci_command(const std::vector<std::string>& arguments, const surroundings& where);

} // namespace ricci::tests
