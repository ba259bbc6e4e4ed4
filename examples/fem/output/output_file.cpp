// output_file: see output_file.hpp.
#include "examples/fem/output/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace fem {

output_file::output_file(std::string path) : path_(std::move(path)) {
    if (std::filesystem::is_directory(path_)) throw output_error(path_ + ": is a folder");
    temporary_ = path_ + ".XXXXXX";
    const int descriptor = mkstemp(temporary_.data());
    if (descriptor < 0) throw output_error(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
    const mode_t mask = umask(0); // mkstemp gives rights to the owner only
    umask(mask);
    fchmod(descriptor, 0666 & ~mask);
    file_ = fdopen(descriptor, "wb");
}

output_file::~output_file() {
    if (!file_) return;
    std::fclose(file_);
    unlink(temporary_.c_str());
}

void output_file::fail(const char* what) const {
    throw output_error(fmt::format("{}: {}: {}", path_, what, std::strerror(errno)));
}

void output_file::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("cannot be written");
}

void output_file::finish() {
    const bool bad = std::fflush(file_) != 0 || std::ferror(file_) != 0;
    if (bad) fail("cannot be written");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be put in its place");
    std::fclose(file_);
    file_ = nullptr;
}

} // namespace fem
