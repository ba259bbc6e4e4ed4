// input_file: by C's streams, since those of C++ do not tell why they fail.
#include "examples/common/input_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace common {

std::string read_whole(const std::string& path) {
    const auto fail = [&](const char* what, int error) {
        throw input_error(fmt::format("{}: {}: {}", path, what, std::strerror(error)));
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file && errno == ENOENT) throw input_error(path + ": there is no such file");
    if (!file) fail("cannot be opened", errno);
    std::string bytes;
    std::array<char, 1 << 16> part;
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), file.get()))
        bytes.append(part.data(), count);
    if (std::ferror(file.get())) fail("cannot be read", errno);
    return bytes;
}

} // namespace common
