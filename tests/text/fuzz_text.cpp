// fuzz_text: libFuzzer's entry; build with clang and -DRICCI_FUZZ=ON, run `fuzz_text -runs=1000000`.
#include "tests/text/try_text.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ricci::tests::try_text({reinterpret_cast<const char*>(data), size}, static_cast<std::uint32_t>(size));
    return 0;
}
