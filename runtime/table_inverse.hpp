// table_inverse: for each element of the output that tables name, the entries that name it.
#pragma once

#include "lowering/scatter_shape.hpp"
#include "lowering/statement.hpp"
#include "runtime/backend.hpp"
#include "runtime/kernel_source.hpp"

#include <atomic>
#include <memory>

namespace ricci::runtime {

/// On a device; by one pass over the tables on the host.
class table_inverse {
  public:
    /// All entries are valid positions.
    table_inverse(const lowering::scatter_shape& shape, const lowering::statement& s, device d, backend& b);

    const row_lists& lists() const { return lists_; }
    std::int64_t longest_row() const { return longest_row_; } ///< entries for one element
    /// Also for those without entries.
    bool has_row_for_each_key() const { return lists_.keys == nullptr && lists_.rows > 0; }

  private:
    struct release_to {
        backend* owner;
        void operator()(void* memory) const { owner->release(memory); }
    };
    std::unique_ptr<void, release_to> memory_;
    row_lists lists_;
    std::int64_t longest_row_ = 0;
};

} // namespace ricci::runtime
