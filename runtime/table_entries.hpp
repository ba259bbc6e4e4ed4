// table_entries: the entries of the tables of a scatter_shape, on the host.
#pragma once

#include "lowering/scatter_shape.hpp"
#include "lowering/statement.hpp"
#include "runtime/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ricci::runtime {

/// A table's entries: its memory on the CPU, a copy of it where it lies elsewhere, for which it waits.
class table_entries {
  public:
    table_entries(const lowering::scatter_shape& shape, const lowering::scatter_table& table,
                  const lowering::statement& s, device d, backend& b);

    /// `at`: elements from the entry of the axes' values all 0.
    std::int64_t operator[](std::int64_t at) const {
        return is_narrow_ ? static_cast<const std::int32_t*>(first_)[at]
                          : static_cast<const std::int64_t*>(first_)[at];
    }
    const void* first() const { return first_; }

  private:
    std::vector<std::byte> copy_;
    const void* first_ = nullptr;
    bool is_narrow_ = false;
};

/// Where a table's entry of the axes' values all 0 lies.
const void* first_entry(const lowering::scatter_table& table, const lowering::statement& s);

} // namespace ricci::runtime
