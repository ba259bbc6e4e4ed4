// output_file: a temporary file that is renamed; what links lead to is found first.
#include "examples/common/output_file.hpp"

#include "examples/common/temporary_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace common {
namespace {

namespace fs = std::filesystem;

/// Where a new file at `path` comes to be: behind a link that leads nowhere yet, in a folder without links.
fs::path new_file(fs::path path, std::error_code& code) {
    constexpr int most_links = 40; // as the system follows
    for (int links = 0; fs::is_symlink(fs::symlink_status(path, code)); ++links) {
        if (links == most_links) {
            code = std::make_error_code(std::errc::too_many_symbolic_link_levels);
            return path;
        }
        path = path.parent_path() / fs::read_symlink(path, code);
        if (code) return path;
    }
    const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : fs::path("."), code);
    return folder / path.filename();
}

} // namespace

output_file::output_file(std::string path) : path_(std::move(path)) {
    if (path_.empty()) throw output_error("an output file needs a name");
    struct stat found {};
    std::error_code code;
    const bool exists = stat(path_.c_str(), &found) == 0;
    if (!exists && errno != ENOENT) fail("cannot be written", errno);
    if (exists && S_ISDIR(found.st_mode)) throw output_error(path_ + ": is a folder");
    if (exists && !S_ISREG(found.st_mode)) {
        open_directly();
        return;
    }
    target_ = (exists ? fs::canonical(path_, code) : new_file(path_, code)).string();
    if (code) fail("cannot be written", code.value());
    if (exists && access(target_.c_str(), W_OK) != 0) fail("cannot be written", errno);
    const mode_t mask = umask(0);
    umask(mask);
    open_beside(exists ? found.st_mode & 0777 : 0666 & ~mask);
}

void output_file::open_directly() {
    std::error_code code;
    target_ = fs::canonical(path_, code).string();
    if (code) target_ = path_; // as /dev/stdout where that is a pipe
    file_ = std::fopen(path_.c_str(), "wb");
    if (!file_) fail("cannot be written", errno);
}

void output_file::open_beside(unsigned rights) {
    const int descriptor = make_temporary(target_, temporary_);
    if (descriptor < 0) fail("cannot be written", errno);
    fchmod(descriptor, rights); // the owner only has them so far
    file_ = fdopen(descriptor, "wb");
}

output_file::~output_file() {
    if (!file_) return;
    std::fclose(file_);
    if (temporary_.empty()) return;
    unlink(temporary_.c_str());
    forget_temporary(temporary_);
}

void output_file::fail(const char* what, int error) const {
    throw output_error(fmt::format("{}: {}: {}", path_, what, std::strerror(error)));
}

void output_file::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("cannot be written", errno);
}

void output_file::finish() {
    const bool bad = std::fflush(file_) != 0 || std::ferror(file_) != 0;
    if (bad) fail("cannot be written", errno);
    if (!temporary_.empty()) {
        if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be put in its place", errno);
        forget_temporary(temporary_);
    }
    std::fclose(file_);
    file_ = nullptr;
}

} // namespace common
