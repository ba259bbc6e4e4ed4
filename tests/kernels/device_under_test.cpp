// device_under_test: reads which device it is, and makes it ready.
#include "tests/kernels/device_under_test.hpp"

#include "runtime/backend.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/seeds.hpp"
#include "tests/skip.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ricci::tests {

std::int32_t device_code() {
    const char* const text = std::getenv("RICCI_TEST_DEVICE");
    const std::string_view name = text == nullptr ? "cpu" : text;
    if (name == "cpu") return 0;
    if (name == "cuda") return 1;
    if (name == "emulator") return emulator_device;
    std::fprintf(stderr, "RICCI_TEST_DEVICE is '%s'; it must be cpu, cuda or emulator\n", text);
    std::exit(1);
}

std::int32_t device_under_test() {
    const auto code = device_code();
    if (code < 0) register_emulator();
    if (code > 0) test::skip_unless(runtime::cuda_device_count() > 0, "no usable GPU");
    return code;
}

std::size_t count_of_run(std::size_t otherwise) { return number_from_environment("RICCI_TEST_N", otherwise); }

} // namespace ricci::tests
