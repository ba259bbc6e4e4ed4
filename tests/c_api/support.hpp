// support: what the tests of the C interface share: numbers of any type in a device's memory, and messages.
#pragma once

#include "ricci.h"

#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace c_api_test {

using number = std::complex<double>;

/// What RICCI_DEVICE names: the tests run once for each kind.
ricci_device tested_device();

std::size_t size_of(ricci_type type);
bool is_complex(ricci_type type);

/// An array of `type` in host memory; numbers are rounded to it.
class host_array {
  public:
    host_array(ricci_type type, std::size_t size) : type_(type), bytes_(size * size_of(type)) {}
    ricci_type type() const { return type_; }
    std::size_t size() const { return bytes_.size() / size_of(type_); }
    std::size_t bytes() const { return bytes_.size(); }
    void* data() { return bytes_.data(); }
    const void* data() const { return bytes_.data(); }
    number at(std::size_t n) const;
    void set(std::size_t n, number value);

  private:
    ricci_type type_;
    std::vector<std::byte> bytes_;
};

/// Small integers, so that sums of products of them are exact in every type.
host_array small_integers(ricci_type type, std::size_t size, unsigned seed);

/// Memory on the tested device for the scope.
class device_array {
  public:
    explicit device_array(const host_array& from) : device_array(from.data(), from.bytes()) {}
    device_array(const void* from, std::size_t bytes);
    ~device_array() { ricci_free(tested_device(), data_); }
    device_array(const device_array&) = delete;
    device_array& operator=(const device_array&) = delete;
    /// Behind `offset` elements of `type`.
    void* at(ricci_type type, std::int64_t offset = 0) const {
        return static_cast<char*>(data_) + offset * static_cast<std::int64_t>(size_of(type));
    }
    void* data() const { return data_; }
    void fetch(host_array& to) const;

  private:
    void* data_ = nullptr;
};

/// An operand on the tested device.
ricci_operand operand(const char* name, ricci_type type, const std::vector<std::int64_t>& extents, void* data,
                      const std::int64_t* strides = nullptr);

/// The last message, if the call failed with this status; else what it did instead.
std::string refused(ricci_status expected, ricci_status status);

/// Checks that a call succeeded, and shows its message where it did not.
#define RICCI_OK(call)                                                                                               \
    do {                                                                                                             \
        const ricci_status status_of_call = (call);                                                                  \
        INFO(ricci_last_error());                                                                                    \
        CHECK(status_of_call == RICCI_SUCCESS);                                                                      \
    } while (false)

} // namespace c_api_test
