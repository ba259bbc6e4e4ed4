// sha256: SHA-256 of a few texts, by OpenSSL's libcrypto.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace ricci::runtime {

/// 64 hexadecimal digits. Each part goes in with its length, so that ("ab", "c") and ("a", "bc") differ.
std::string sha256(std::initializer_list<std::string_view> parts);

} // namespace ricci::runtime
