// temporary_files: their names lie in fixed memory, since a signal handler may neither allocate nor lock.
#include "examples/common/temporary_files.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <string_view>
#include <unistd.h>

namespace common {
namespace {

struct entry {
    std::atomic<bool> used = false;  ///< taken by a file
    std::atomic<bool> there = false; ///< the name is complete, and the file's
    char name[PATH_MAX];
};
/// More than the program ever writes at once; those beyond are left behind.
std::array<entry, 8> entries;

extern "C" void remove_and_end(int number) {
    for (entry& e : entries)
        if (e.there.load()) unlink(e.name);
    std::signal(number, SIG_DFL);
    std::raise(number);
}

void catch_signals() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        struct sigaction now {};
        // What is ignored (by nohup) or has a handler (a test's) stays so.
        if (sigaction(number, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
            continue;
        struct sigaction wanted {};
        wanted.sa_handler = remove_and_end;
        sigemptyset(&wanted.sa_mask);
        sigaction(number, &wanted, nullptr);
    }
}

/// Six letters and digits that no other name ends in, most likely.
std::string suffix() {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    std::random_device random;
    std::string text;
    for (int n = 0; n < 6; ++n) text += letters[random() % letters.size()];
    return text;
}

void remember(const std::string& name) {
    if (name.size() >= PATH_MAX) return;
    for (entry& e : entries)
        if (!e.used.exchange(true)) {
            std::memcpy(e.name, name.c_str(), name.size() + 1);
            e.there = true;
            return;
        }
}

} // namespace

int make_temporary(const std::string& path, std::string& name) {
    static const bool caught = (catch_signals(), true);
    static_cast<void>(caught);
    const std::filesystem::path whole(path);
    const std::string cut = whole.filename().string().substr(0, NAME_MAX - 7); // a name may be as long as can be
    for (int attempt = 0; attempt < 100; ++attempt) {
        name = (whole.parent_path() / (cut + '.' + suffix())).string();
        remember(name); // before the file is there, so that no signal comes between
        const int descriptor = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (descriptor >= 0) return descriptor;
        forget_temporary(name);
        if (errno != EEXIST) return -1;
    }
    return -1;
}

void forget_temporary(const std::string& name) {
    for (entry& e : entries)
        if (e.there.load() && name == e.name) {
            e.there = false;
            e.used = false;
        }
}

} // namespace common
