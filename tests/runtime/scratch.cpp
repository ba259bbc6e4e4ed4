// scratch: child processes for the runtime's tests.
#include "tests/runtime/scratch.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <grp.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace ricci::test {

namespace {

outcome fork_and_run(const std::function<bool()>& body, bool drop) {
    const runtime::temporary_directory folder;
    const auto log = folder.path() / "stderr";
    const int errors = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0 || errors < 0) throw std::runtime_error("cannot start a child process");
    if (child == 0) {
        dup2(errors, 2);
        if (drop && geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0))
            _exit(99);
        int status = 98;
        try {
            status = body() ? 0 : 1;
        } catch (const std::exception& failure) {
            std::fprintf(stderr, "threw: %s\n", failure.what());
        }
        std::fflush(nullptr);
        _exit(status); // not exit: the test program's own ending belongs to the parent
    }
    close(errors);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(log)};
}

} // namespace

outcome as_plain_user(const std::function<bool()>& body) { return fork_and_run(body, true); }
outcome in_child(const std::function<bool()>& body) { return fork_and_run(body, false); }

} // namespace ricci::test
