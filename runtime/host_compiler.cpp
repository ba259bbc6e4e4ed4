// host_compiler: the system's C++ compiler, found and called at run time.
#include "runtime/host_compiler.hpp"

#include "lowering/error.hpp"
#include "runtime/cpu_features.hpp"
#include "runtime/cpu_machine.hpp"
#include "runtime/environment.hpp"
#include "runtime/temporary_directory.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace ricci::runtime {

namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__) || defined(__i386__)
constexpr const char* native = "-march=native";
#else
constexpr const char* native = "-mcpu=native"; // GCC's and Clang's spelling on AArch64 and POWER
#endif

// Values stay IEEE: neither of the two -fno options changes one. -nostdlib drops libstdc++ and the start files:
// linking with them takes 80 ms in all, without 45 (g++ 12, a 30-line kernel).
constexpr const char* compile_options[] = {"-std=c++20",
                                           "-O3",
                                           "-shared",
                                           "-fPIC",
                                           "-pipe",
                                           "-w",
                                           "-ffp-contract=fast",
                                           "-fno-math-errno",
                                           "-fno-trapping-math",
                                           "-fno-exceptions",
                                           "-fno-rtti",
                                           "-fno-asynchronous-unwind-tables",
                                           "-nostdlib",
                                           "-Wl,-Bsymbolic"};
constexpr const char* libraries[] = {"-lm", "-lc", "-lgcc"};

// Templates' static members would be shared by all kernels of the process (STB_GNU_UNIQUE), though their values
// differ from kernel to kernel. As local symbols they are not; Clang has no -fno-gnu-unique.
constexpr std::string_view symbol_script = "{ local: _Z*; };";

bool is_executable(const fs::path& file) {
    std::error_code failure;
    return fs::is_regular_file(file, failure) && access(file.c_str(), X_OK) == 0;
}

/// The file that `name` means: itself if it holds a slash, else the first of that name on the PATH. Empty if none.
fs::path find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return is_executable(name) ? fs::absolute(name) : fs::path();
    const char* path = std::getenv("PATH");
    std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
    while (!rest.empty()) {
        const std::string_view folder = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
        if (folder.empty()) continue; // would be the working directory, which anyone may have written
        if (const fs::path file = fs::path(folder) / name; is_executable(file)) return fs::absolute(file);
    }
    return {};
}

/// Why RICCI_CXX cannot be used.
std::string no_program(const std::string& chosen) {
    const bool has_options = !find_program(chosen.substr(0, chosen.find(' '))).empty();
    return fmt::format("RICCI_CXX is \"{}\", which is no program{}", chosen,
                       has_options ? "; it names one program, without options" : "");
}

std::string read_text(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, std::string_view text) {
    std::ofstream out(file, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out.flush())
        throw error(fmt::format("cannot write {}: {} (TMPDIR chooses another place)", file.string(),
                                std::generic_category().message(errno)),
                    blame::environment);
}

/// Runs a program to its end, its output and errors in the file `log`. Returns how it ended; empty for success.
std::string run_program(const fs::path& program, const std::vector<std::string>& arguments, const fs::path& log) {
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    // The caller's blocked and ignored signals are not the compiler's: it waits for children of its own.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t child = 0;
    const int failure = posix_spawn(&child, program.c_str(), &files, &attributes, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (failure) return fmt::format("cannot be started: {}", std::generic_category().message(failure));

    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno == EINTR) continue;
        return {}; // ECHILD: this process ignores SIGCHLD, and its children's status is lost; the output tells
    }
    if (WIFSIGNALED(status)) return fmt::format("was killed by signal {}", WTERMSIG(status));
    return WEXITSTATUS(status) ? fmt::format("failed with status {}", WEXITSTATUS(status)) : "";
}

} // namespace

host_compiler::host_compiler() {
    const char* chosen = variable("RICCI_CXX");
    const std::vector<std::string> names =
        chosen ? std::vector<std::string>{chosen} : std::vector<std::string>{"c++", "g++", "clang++"};
    for (const std::string& name : names)
        if (path_ = find_program(name); !path_.empty()) break;
    if (path_.empty())
        missing_ = chosen ? no_program(chosen) : "none of c++, g++ and clang++ is on the PATH";
    const std::string features = cpu_vector_features();
    architecture_ = code_options(features);
    architecture_.insert(architecture_.begin(), native);
    read_identity();
    options_ = fmt::format("{} {} {} ({} {})", fmt::join(compile_options, " "), symbol_script,
                           fmt::join(libraries, " "), features, cpu_feature_digest().substr(0, 16));
}

host_compiler::host_compiler(const std::string& program, std::vector<std::string> architecture)
    : path_(find_program(program)), architecture_(std::move(architecture)) {
    if (path_.empty()) missing_ = fmt::format("there is no program {}", program);
    read_identity();
    options_ = fmt::format("{} {} {} {}", fmt::join(compile_options, " "), symbol_script, fmt::join(libraries, " "),
                           fmt::join(architecture_, " "));
}

void host_compiler::read_identity() {
    struct stat file {};
    if (found() && stat(path_.c_str(), &file) == 0)
        identity_ =
            fmt::format("{} {} {}.{:09}", path_.string(), file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

std::string host_compiler::identity() const { return identity_; }

std::string host_compiler::options() const { return options_; }

std::string host_compiler::compile(const std::string& source, failed_source then) {
    if (!found()) throw error(fmt::format("no C++ compiler for CPU kernels: {}", missing_), blame::environment);
    temporary_directory folder;
    const fs::path input = folder.path() / "kernel.cpp", output = folder.path() / "kernel.so",
                   log = folder.path() / "log", script = folder.path() / "symbols";
    write_text(input, source);
    write_text(script, symbol_script);
    std::vector<std::string> arguments(std::begin(compile_options), std::end(compile_options));
    arguments.insert(arguments.end(), architecture_.begin(), architecture_.end());
    arguments.insert(arguments.end(), {"-Xlinker", "--version-script", "-Xlinker", script.string(), "-x",
                                       "c++", input.string(), "-o", output.string()});
    arguments.insert(arguments.end(), std::begin(libraries), std::end(libraries));
    const std::string failure = run_program(path_, arguments, log);
    std::string code = failure.empty() ? read_text(output) : "";
    if (!code.empty()) return code;
    std::string message =
        fmt::format("the compiler {} {}", path_.string(), failure.empty() ? "wrote nothing" : failure);
    if (then == failed_source::kept) {
        folder.keep();
        message += fmt::format("; its input is kept in {}", input.string());
    }
    if (const std::string said = read_text(log); !said.empty()) message += ", its log:\n" + said;
    throw error(message, blame::environment);
}

} // namespace ricci::runtime
