// operand_sets: memory for the operands of a statement, several times where the caches would hold one set.
#pragma once

#include "bench/device_memory.hpp"
#include "bench/session.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ricci::bench {

class operand_sets {
  public:
    /// Takes `memory`, which grows where it is too small. Each operand begins `offset` elements behind an aligned
    /// address.
    operand_sets(const work& w, device where, std::int64_t offset, bool only_one, device_memory& memory);

    /// Of each set, the addresses of the operands.
    const std::vector<std::vector<void*>>& addresses() const { return addresses_; }

  private:
    std::vector<std::vector<void*>> addresses_;
};

/// What operand number `number` of a set is filled with.
random_numbers numbers_of(const work_operand& operand, std::size_t number, std::size_t set);

} // namespace ricci::bench
