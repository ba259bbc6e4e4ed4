// sha256: SHA-256 of a few texts, by OpenSSL's libcrypto.
#include "runtime/sha256.hpp"

#include "lowering/error.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <openssl/evp.h>

namespace ricci::runtime {

std::string sha256(std::initializer_list<std::string_view> parts) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    bool good = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
    for (const std::string_view part : parts) {
        const std::uint64_t size = part.size();
        good = good && EVP_DigestUpdate(context.get(), &size, sizeof size) == 1 &&
               EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
    }
    std::array<unsigned char, 32> digest{};
    if (!good || EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) != 1)
        throw error("libcrypto cannot compute SHA-256", blame::environment);
    std::string text;
    for (const unsigned char byte : digest)
        for (const int nibble : {byte >> 4, byte & 15}) text += "0123456789abcdef"[nibble];
    return text;
}

} // namespace ricci::runtime
