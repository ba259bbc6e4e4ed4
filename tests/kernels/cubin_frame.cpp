// cubin_frame: reads the attributes of a cubin, as `cuobjdump -elf` shows them.
#include "tests/kernels/cubin_frame.hpp"

#include "lowering/error.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>

namespace ricci::tests {
namespace {

template <class T>
T at(std::string_view bytes, std::size_t offset) {
    if (offset + sizeof(T) > bytes.size()) throw error("a cubin ends in the middle");
    T out;
    std::memcpy(&out, bytes.data() + offset, sizeof(T));
    return out;
}

/// What an attribute begins with.
struct attribute {
    std::uint8_t format, kind;
    std::uint16_t size; ///< of what follows, where the format is has_size
};
constexpr std::uint8_t has_size = 4, frame_size = 0x11;

} // namespace

std::uint32_t frame_bytes(std::string_view cubin) {
    const auto file = at<Elf64_Ehdr>(cubin, 0);
    const auto section = [&](std::size_t n) { return at<Elf64_Shdr>(cubin, file.e_shoff + n * file.e_shentsize); };
    const auto names = section(file.e_shstrndx);
    std::optional<std::uint32_t> most;
    for (std::size_t n = 0; n < file.e_shnum; ++n) {
        const auto s = section(n);
        const auto name = cubin.substr(std::min(cubin.size(), names.sh_offset + s.sh_name));
        if (!name.starts_with(std::string_view(".nv.info\0", 9))) continue;
        for (auto offset = s.sh_offset; offset < s.sh_offset + s.sh_size;) {
            const auto a = at<attribute>(cubin, offset);
            offset += sizeof(attribute);
            if (a.format != has_size) continue;
            if (a.kind == frame_size) // of a function, by its symbol
                most = std::max(most.value_or(0), at<std::uint32_t>(cubin, offset + sizeof(std::uint32_t)));
            offset += a.size;
        }
    }
    if (!most) throw error("a cubin says nothing of its kernel's stack");
    return *most;
}

} // namespace ricci::tests
