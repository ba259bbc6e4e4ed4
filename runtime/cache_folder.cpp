// cache_folder: the kernel cache's directory, and whom it trusts.
#include "runtime/cache_folder.hpp"

#include "lowering/error.hpp"
#include "runtime/kernel_cache.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace ricci::runtime {

namespace fs = std::filesystem;

namespace {

std::string reason(int code) { return std::generic_category().message(code); }

constexpr const char* no_directory = "there is none: none of RICCI_CACHE_DIR, XDG_CACHE_HOME and HOME is set";

/// Makes `path` and what is missing above it, for this user alone. Failures show when it is opened.
void make_directories(const fs::path& path) {
    fs::path part;
    for (const fs::path& name : path) {
        part /= name;
        mkdir(part.c_str(), 0700);
    }
}

folder checked(int number) {
    folder result;
    if (number < 0) {
        if (errno != ENOENT) result.problem = fmt::format("cannot be opened: {}", reason(errno));
        return result;
    }
    descriptor open(number);
    struct stat status {};
    result.problem = fstat(number, &status) == 0 ? distrust(status) : reason(errno);
    if (result.problem.empty()) result.open = std::move(open);
    return result;
}

} // namespace

descriptor::~descriptor() {
    if (number_ >= 0) close(number_);
}

fs::path cache_directory() {
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return fs::path(value ? value : "");
    };
    if (const fs::path own = variable("RICCI_CACHE_DIR"); !own.empty()) return fs::absolute(own);
    // Relative ones are to be ignored, says the XDG base directory specification.
    if (const fs::path user = variable("XDG_CACHE_HOME"); user.is_absolute()) return user / "ricci";
    if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".cache" / "ricci";
    return {};
}

std::string distrust(const struct stat& status) {
    if (status.st_uid != geteuid()) return fmt::format("owned by user {}, not by you ({})", status.st_uid, geteuid());
    if (status.st_mode & (S_IWGRP | S_IWOTH))
        return fmt::format("others can write there (mode {:04o}): chmod go-w", status.st_mode & 07777u);
    return {};
}

folder open_root(if_absent absent) {
    const fs::path path = cache_directory();
    if (path.empty()) return {descriptor(), no_directory};
    if (absent == if_absent::make) make_directories(path);
    folder root = checked(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root.open && root.problem.empty() && absent == if_absent::make) root.problem = "cannot be made";
    return root;
}

folder open_shelf(const folder& root, const std::string& digits, if_absent absent) {
    if (absent == if_absent::make && mkdirat(root.open.get(), digits.c_str(), 0700) != 0 && errno != EEXIST)
        return {descriptor(), fmt::format("cannot be written: {}", reason(errno))};
    return checked(openat(root.open.get(), digits.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

cached_file read_file(int shelf, const std::string& name) {
    cached_file file;
    // O_NONBLOCK: a FIFO of that name must not make us wait.
    file.open = descriptor(openat(shelf, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.open) {
        if (errno != ENOENT) file.problem = fmt::format("cannot be opened: {}", reason(errno));
        return file;
    }
    file.problem = fstat(file.open.get(), &file.status) != 0 ? reason(errno)
                   : !S_ISREG(file.status.st_mode)           ? "no regular file"
                                                             : distrust(file.status);
    if (!file.problem.empty()) return file;
    std::string bytes(static_cast<std::size_t>(file.status.st_size), '\0');
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t got = read(file.open.get(), bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return file.problem = fmt::format("cannot be read: {}", reason(errno)), std::move(file);
        if (got == 0) bytes.resize(done); // truncated meanwhile: its checksum will say so
        done += static_cast<std::size_t>(got);
    }
    file.bytes = std::move(bytes);
    return file;
}

std::string cache_problem() {
    const fs::path path = cache_directory();
    if (path.empty()) return no_directory;
    const folder root = open_root(if_absent::leave);
    if (!root.problem.empty()) return root.problem;
    fs::path place = path; // where the first thing would be made
    std::error_code ignored;
    while (!root.open && !fs::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
    if (faccessat(AT_FDCWD, place.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
    if (root.open) return fmt::format("cannot be written: {}", reason(errno));
    return fmt::format("cannot be made: {} cannot be written: {}", place.string(), reason(errno));
}

std::uint64_t cache_capacity() {
    const char* variable = std::getenv("RICCI_CACHE_SIZE");
    const std::string_view text = variable && *variable ? variable : "1G";
    std::uint64_t count = 0;
    const char* end = text.data() + text.size();
    auto [stop, failure] = std::from_chars(text.data(), end, count);
    int shift = 0;
    if (failure == std::errc() && stop + 1 == end) {
        constexpr std::string_view units = "KMGT";
        const std::size_t unit = units.find(*stop);
        if (unit != units.npos) shift = 10 * (static_cast<int>(unit) + 1), ++stop;
    }
    if (failure != std::errc() || stop != end || count > std::numeric_limits<std::uint64_t>::max() >> shift)
        throw error(
            fmt::format("RICCI_CACHE_SIZE is \"{}\": expected bytes, or a number with K, M, G or T after it", text),
            blame::environment);
    return count << shift;
}

void warn_of_cache(const std::string& problem) {
    static std::atomic<bool> said = false;
    if (!said.exchange(true))
        fmt::print(stderr, "ricci: kernel cache {}: {}; going on in memory\n",
                   cache_directory().string(), problem);
}

} // namespace ricci::runtime
