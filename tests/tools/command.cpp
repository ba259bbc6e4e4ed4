// command: runs the built `ricci`, or another program, and takes what it prints.
#include "tests/tools/command.hpp"

#include "tests/tools/folder.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ricci::tests {

namespace {

/// In the child, which has no other thread: becomes the command, or ends with 127.
[[noreturn]] void become(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                         const surroundings& where, const std::string& out, const std::string& err) {
    const auto redirect = [](const std::string& file, int descriptor) {
        dup2(open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), descriptor);
    };
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
    if (chdir(where.folder.c_str()) != 0) _exit(127);
    for (const auto& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    if (where.largest_file > 0) {
        const rlimit limit{where.largest_file, where.largest_file};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
}

} // namespace

outcome run_command(const std::vector<std::string>& words, const surroundings& where) {
    static const folder shared;
    std::vector<std::string> environment{"RICCI_DEVICE=cpu", "RICCI_CACHE_DIR=" + (shared / "cache").string()};
    environment.insert(environment.end(), where.environment.begin(), where.environment.end());
    const std::string out = where.output.empty() ? (shared / "out").string() : where.output, err = shared / "err";

    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("cannot fork");
    if (child == 0) become(words, environment, where, out, err);
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            where.output.empty() ? read_bytes(out) : "", read_bytes(err)};
}

outcome ricci_command(const std::vector<std::string>& arguments, const surroundings& where) {
    std::vector<std::string> words{RICCI_COMMAND};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_command(words, where);
}

} // namespace ricci::tests
