// support: what the tests of the C interface share.
#include "tests/c_api/support.hpp"

#include "runtime/backend.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"

#include "runtime/half.hpp"

#include <cstdlib>
#include <string_view>

namespace c_api_test {

namespace {

bool wants_gpu() {
    const char* wanted = std::getenv("RICCI_DEVICE");
    return wanted != nullptr && std::string_view(wanted) == "cuda";
}
[[maybe_unused]] const bool possible =
    ricci::test::skip_unless(!wants_gpu() || ricci::runtime::cuda_device_count() > 0, "no usable GPU");

template <class T>
T read(const void* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <class T>
void write(void* at, T value) {
    std::memcpy(at, &value, sizeof value);
}

} // namespace

ricci_device tested_device() { return wants_gpu() ? RICCI_CUDA(0) : RICCI_CPU; }

std::size_t size_of(ricci_type type) {
    constexpr std::size_t bytes[] = {2, 2, 4, 8, 8, 16, 4, 8};
    return bytes[type - RICCI_F16];
}

bool is_complex(ricci_type type) { return type == RICCI_C64 || type == RICCI_C128; }

number host_array::at(std::size_t n) const {
    const auto* const at = bytes_.data() + n * size_of(type_);
    switch (type_) {
    case RICCI_F16: return static_cast<float>(read<ricci::half>(at));
    case RICCI_BF16: return static_cast<float>(read<ricci::bfloat16>(at));
    case RICCI_F32: return read<float>(at);
    case RICCI_F64: return read<double>(at);
    case RICCI_C64: return read<std::complex<float>>(at);
    case RICCI_C128: return read<std::complex<double>>(at);
    case RICCI_I32: return read<std::int32_t>(at);
    default: return static_cast<double>(read<std::int64_t>(at));
    }
}

void host_array::set(std::size_t n, number value) {
    auto* const at = bytes_.data() + n * size_of(type_);
    switch (type_) {
    case RICCI_F16: return write(at, ricci::half(static_cast<float>(value.real())));
    case RICCI_BF16: return write(at, ricci::bfloat16(static_cast<float>(value.real())));
    case RICCI_F32: return write(at, static_cast<float>(value.real()));
    case RICCI_F64: return write(at, value.real());
    case RICCI_C64: return write(at, std::complex<float>(value));
    case RICCI_C128: return write(at, value);
    case RICCI_I32: return write(at, static_cast<std::int32_t>(value.real()));
    default: return write(at, static_cast<std::int64_t>(value.real()));
    }
}

host_array small_integers(ricci_type type, std::size_t size, unsigned seed) {
    host_array out(type, size);
    for (std::size_t n = 0; n < size; ++n) {
        seed = seed * 1664525u + 1013904223u;
        const int re = static_cast<int>(seed >> 28) % 3 - 1, im = static_cast<int>(seed >> 24) % 3 - 1;
        out.set(n, number(re, is_complex(type) ? im : 0));
    }
    return out;
}

device_array::device_array(const void* from, std::size_t bytes) {
    REQUIRE(ricci_allocate(tested_device(), bytes, &data_) == RICCI_SUCCESS);
    REQUIRE(ricci_copy(tested_device(), data_, RICCI_CPU, from, bytes) == RICCI_SUCCESS);
}

void device_array::fetch(host_array& to) const {
    REQUIRE(ricci_copy(RICCI_CPU, to.data(), tested_device(), data_, to.bytes()) == RICCI_SUCCESS);
}

ricci_operand operand(const char* name, ricci_type type, const std::vector<std::int64_t>& extents, void* data,
                      const std::int64_t* strides) {
    return {name, type, static_cast<int>(extents.size()), extents.data(), strides, data, tested_device()};
}

std::string refused(ricci_status expected, ricci_status status) {
    return status == expected ? ricci_last_error() : "the status was " + std::to_string(status);
}

} // namespace c_api_test
