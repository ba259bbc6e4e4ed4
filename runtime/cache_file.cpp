// cache_file: the format of one file of the kernel cache.
#include "runtime/cache_file.hpp"

#include "runtime/sha256.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace ricci::runtime {

namespace {

constexpr std::string_view magic = "ricciK1\n";
constexpr std::size_t digits = 64; ///< of a SHA-256
using sizes = std::array<std::uint64_t, 3>;

} // namespace

std::string encode(const cache_record& record) {
    const sizes lengths{record.entry.size(), record.options.size(), record.code.size()};
    std::string body = record.key;
    body.append(reinterpret_cast<const char*>(lengths.data()), sizeof lengths);
    body.append(record.entry).append(record.options).append(record.code);
    return std::string(magic).append(sha256({body})).append(body);
}

std::optional<cache_record> decode(std::string_view file) {
    sizes lengths{};
    if (file.size() < magic.size() + 2 * digits + sizeof lengths || !file.starts_with(magic)) return std::nullopt;
    const std::string_view digest = file.substr(magic.size(), digits);
    const std::string_view body = file.substr(magic.size() + digits);
    if (sha256({body}) != digest) return std::nullopt;
    std::memcpy(lengths.data(), body.data() + digits, sizeof lengths);
    std::size_t place = digits + sizeof lengths;
    std::array<std::string, 3> texts;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (lengths[i] > body.size() - place) return std::nullopt; // written by a machine of the other byte order
        texts[i] = body.substr(place, lengths[i]);
        place += lengths[i];
    }
    return cache_record{std::string(body.substr(0, digits)), texts[0], texts[1], texts[2]};
}

} // namespace ricci::runtime
