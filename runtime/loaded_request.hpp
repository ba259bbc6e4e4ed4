// loaded_request: a request whose kernels are compiled and loaded.
#pragma once

#include "runtime/backend.hpp"
#include "runtime/kernel_source.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ricci::runtime {

/// Kernels stay loaded for the life of the process; copies share them.
class loaded_request {
  public:
    loaded_request() = default;
    /// Compiles or loads every kernel, and keeps no source.
    loaded_request(backend& b, kernel_request request);

    const kernel_request& request() const { return request_; }
    /// What the first kernel takes of a GPU, which has the step's parameters.
    kernel_use use(backend& b) const;
    /// One after the other, with the request's words, patched; of a kernel by rows as many blocks as `rows` want.
    void launch(backend& b, std::span<const std::uint64_t> words, std::int64_t rows = 0) const;

  private:
    kernel_request request_;
    kernel_handle first_ = nullptr;
    std::vector<kernel_handle> behind_;
};

} // namespace ricci::runtime
