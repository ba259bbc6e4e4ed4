// cache_folder: the kernel cache's directory, and whom it trusts.
#include "runtime/cache_folder.hpp"

#include "lowering/error.hpp"
#include "runtime/environment.hpp"
#include "runtime/kernel_cache.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
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

/// Writes all of `bytes` to a new file and syncs it; 0 or the error's number.
int write_file(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return fsync(file) == 0 ? 0 : errno;
}

/// A name that no other writer has: the process, a counter, and the time for process numbers that come again.
std::string temporary_name() {
    static std::atomic<unsigned> counter = 0;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return fmt::format("tmp-{}-{}-{}.{:09}", getpid(), ++counter, now.tv_sec, now.tv_nsec);
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
    const auto path_in = [](const char* name) {
        const char* const text = variable(name);
        return fs::path(text ? text : "");
    };
    if (const fs::path own = path_in("RICCI_CACHE_DIR"); !own.empty()) return fs::absolute(own);
    // Relative ones are to be ignored, says the XDG base directory specification.
    if (const fs::path user = path_in("XDG_CACHE_HOME"); user.is_absolute()) return user / "ricci";
    if (const fs::path home = path_in("HOME"); home.is_absolute()) return home / ".cache" / "ricci";
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

int replace_file(int shelf, const std::string& name, std::string_view bytes) {
    const std::string temporary = temporary_name();
    const descriptor file(
        openat(shelf, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    int failure = file ? write_file(file.get(), bytes) : errno;
    if (!failure && renameat(shelf, temporary.c_str(), shelf, name.c_str()) != 0) failure = errno;
    if (failure && file) unlinkat(shelf, temporary.c_str(), 0);
    return failure;
}

std::string cache_problem() {
    const fs::path path = cache_directory();
    if (path.empty()) return no_directory;
    const folder root = open_root(if_absent::leave);
    if (!root.problem.empty()) return root.problem;
    if (root.open)
        return faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0
                   ? ""
                   : fmt::format("cannot be written: {}", reason(errno));
    fs::path place = path.parent_path(); // where the first thing would be made
    std::error_code ignored;
    while (!fs::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
    std::string attempt = (place / "ricci-XXXXXX").string(); // the permissions of /proc promise what it does not do
    if (mkdtemp(attempt.data()) && rmdir(attempt.c_str()) == 0) return {};
    return fmt::format("cannot be made: {} cannot be written: {}", place.string(), reason(errno));
}

std::uint64_t cache_capacity() {
    const char* const given = variable("RICCI_CACHE_SIZE");
    const std::string_view text = given ? given : "1G";
    double bytes = 0;
    const char* end = text.data() + text.size();
    auto [stop, failure] = std::from_chars(text.data(), end, bytes, std::chars_format::fixed);
    if (failure == std::errc() && stop + 1 == end) {
        constexpr std::string_view units = "KMGTkmgt";
        const std::size_t unit = units.find(*stop);
        if (unit != units.npos) bytes = std::ldexp(bytes, 10 * (static_cast<int>(unit % 4) + 1)), ++stop;
    }
    if (failure != std::errc() || stop != end || !(bytes >= 0 && bytes < 0x1p64)) // infinity and NaN are numbers too
        throw error(
            fmt::format("RICCI_CACHE_SIZE is \"{}\": expected bytes, or a number with K, M, G or T after it", text),
            blame::environment);
    return static_cast<std::uint64_t>(bytes);
}

void warn_of_cache(const std::string& problem) {
    static std::atomic<bool> said = false;
    if (!said.exchange(true))
        fmt::print(stderr, "ricci: kernel cache {}: {}; going on in memory\n", cache_directory().string(), problem);
}

} // namespace ricci::runtime
