// emulator_compiler: puts the shim before a kernel and compiles it.
#include "tests/emulator/emulator_compiler.hpp"

#include "lowering/error.hpp"
#include "runtime/temporary_directory.hpp"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <regex>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <vector>

extern char** environ;

namespace ricci::tests {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// -Og compiles in two thirds of -O1's time, kernels run as fast, and ASan's reports keep their lines. Hidden: kernels
/// have constants of equal names and other values. Of UBSan's checks those that ASan makes at the access itself are
/// left out, a third of the compilation, and of ASan's that of scopes, a quarter of what is left.
std::vector<std::string> flags() {
    std::vector<std::string> f{"-std=c++20",      "-Og",      "-g1", "-shared", "-fPIC", "-w", "-fvisibility=hidden",
                               "-fno-exceptions", "-fno-rtti"};
    const std::string sanitize = RICCI_EMULATOR_SANITIZE;
    if (!sanitize.empty()) {
        f.push_back("-fsanitize=" + sanitize);
        f.push_back("-fno-sanitize=null,object-size,pointer-overflow");
        f.push_back("-fno-sanitize-address-use-after-scope");
        f.push_back("-fno-sanitize-recover=all"); // else UBSan tells, and the test passes
    }
    return f;
}

/// A kernel takes its arguments by value in constant memory; here by reference, a pointer to any caller.
std::string by_reference(const std::string& source) {
    static const std::regex by_value("const __grid_constant__ (\\w+) ");
    return std::regex_replace(source, by_value, "const $1& ");
}

} // namespace

std::string emulator_compiler::identity() const { return RICCI_EMULATOR_CXX; }

std::string emulator_compiler::options() const {
    const fs::path folder = RICCI_EMULATOR_SOURCES;
    return fmt::format("emulator {} shim {:x}", fmt::join(flags(), " "),
                       std::hash<std::string>{}(read(folder / "shim.hpp") + read(folder / "state.hpp")));
}

std::string emulator_compiler::compile(const std::string& source) {
    runtime::temporary_directory folder;
    const fs::path input = folder.path() / "kernel.cpp", output = folder.path() / "kernel.so",
                   log = folder.path() / "log";
    std::ofstream(input, std::ios::binary) << "#include \"" << RICCI_EMULATOR_SOURCES << "/shim.hpp\"\n#line 1\n"
                                           << by_reference(source);

    std::vector<std::string> words = flags();
    words.insert(words.begin(), RICCI_EMULATOR_CXX);
    words.insert(words.end(), {input.string(), "-o", output.string()});
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child = 0;
    int status = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (status == 0) waitpid(child, &status, 0);
    if (status == 0) return read(output);
    folder.keep();
    throw error(fmt::format("emulator: {} does not compile the kernel, which is kept in {}:\n{}", argv[0],
                            input.string(), read(log)),
                blame::environment);
}

} // namespace ricci::tests
