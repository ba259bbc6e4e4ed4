// host_backend: the part of a GPU's stand-in whose memory is the host's.
#pragma once

#include "runtime/backend.hpp"

#include <cstddef>
#include <cstring>

namespace ricci::tests {

class host_backend : public runtime::backend {
  public:
    void zero(void* memory, std::size_t bytes) override { std::memset(memory, 0, bytes); }
    void copy_in(void* target, const void* host, std::size_t bytes) override { std::memcpy(target, host, bytes); }
    void copy_out(void* host, const void* source, std::size_t bytes) override { std::memcpy(host, source, bytes); }
    void copy_within(void* target, const void* source, std::size_t bytes) override {
        std::memmove(target, source, bytes);
    }
    void synchronize() override {}
};

} // namespace ricci::tests
