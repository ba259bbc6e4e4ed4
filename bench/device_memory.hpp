// device_memory: one piece of memory on the device that is measured.
#pragma once

#include <ricci/runtime/device.hpp>

#include <cstddef>
#include <utility>

namespace ricci::bench {

class device_memory {
  public:
    device_memory() = default;
    device_memory(device where, std::size_t bytes)
        : where_(where), data_(runtime::allocate(where, bytes, false)), bytes_(bytes) {}
    device_memory(device_memory&& other) noexcept { swap(other); }
    device_memory& operator=(device_memory&& other) noexcept {
        device_memory taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~device_memory() { runtime::release(where_, data_); }

    char* data() const { return static_cast<char*>(data_); }
    std::size_t bytes() const { return bytes_; }

  private:
    void swap(device_memory& other) noexcept {
        std::swap(where_, other.where_), std::swap(data_, other.data_), std::swap(bytes_, other.bytes_);
    }

    device where_;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace ricci::bench
