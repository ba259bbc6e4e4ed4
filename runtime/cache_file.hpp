// cache_file: the format of one file of the kernel cache.
//
//   "ricciK1\n"                                  magic and version
//   64 hexadecimal digits                        SHA-256 of all that follows
//   64 hexadecimal digits                        the key
//   3 x 8 bytes                                  sizes of the three texts below, in the machine's byte order
//   entry, options, code
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ricci::runtime {

struct cache_record {
    std::string key;     ///< SHA-256, hexadecimal
    std::string entry;   ///< the kernel's function
    std::string options; ///< it was compiled with
    std::string code;
};

std::string encode(const cache_record& record);

/// The record in `file`; nothing if a byte of it is missing, added or changed.
std::optional<cache_record> decode(std::string_view file);

} // namespace ricci::runtime
