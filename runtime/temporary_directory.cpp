// temporary_directory: a folder of our own (mode 0700) under TMPDIR, removed with what is in it.
#include "runtime/temporary_directory.hpp"

#include "lowering/error.hpp"
#include "runtime/environment.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace ricci::runtime {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "ricci-";
constexpr const char* kept_mark = "kept"; ///< a file in a folder that is for the user to look at

// Seconds since a folder last changed. A process that looks gone may run on another host or in another container that
// shares TMPDIR; no compilation takes ten minutes.
constexpr std::time_t stale = 600, kept_stale = 24 * 3600;

/// The process in a folder's name ricci-PID-XXXXXX; 0 for any other name.
pid_t maker_of(std::string_view name) {
    pid_t maker = 0;
    if (!name.starts_with(prefix)) return 0;
    const char* const end = name.data() + name.size();
    const auto [stop, failure] = std::from_chars(name.data() + prefix.size(), end, maker);
    return failure == std::errc() && end - stop == 7 && *stop == '-' && maker > 0 ? maker : 0;
}

/// Removes what this user's processes left that were interrupted.
void remove_stale(const fs::path& parent) {
    std::error_code ignored;
    for (fs::directory_iterator entry(parent, ignored), end; entry != end; entry.increment(ignored)) {
        const fs::path& path = entry->path();
        const pid_t maker = maker_of(path.filename().native());
        struct stat status {};
        if (maker == 0 || lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid())
            continue;
        const bool gone = kill(maker, 0) != 0 && errno == ESRCH;
        const std::time_t age = std::time(nullptr) - status.st_mtime;
        if (gone && age > (fs::exists(path / kept_mark, ignored) ? kept_stale : stale)) fs::remove_all(path, ignored);
    }
}

} // namespace

temporary_directory::temporary_directory() {
    const char* const given = variable("TMPDIR");
    const std::string parent = given ? given : "/tmp";
    remove_stale(parent);
    std::string pattern = fmt::format("{}/{}{}-XXXXXX", parent, prefix, getpid());
    if (!mkdtemp(pattern.data()))
        throw error(fmt::format("cannot make a temporary folder {}: {} (TMPDIR chooses another place)", pattern,
                                std::generic_category().message(errno)),
                    blame::environment);
    path_ = pattern;
}

temporary_directory::~temporary_directory() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
}

void temporary_directory::keep() {
    kept_ = true;
    std::ofstream(path_ / kept_mark);
}

} // namespace ricci::runtime
