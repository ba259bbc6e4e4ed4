// text_program: statements of the notation as text, and what they hand each other, to be bound to a set's operands.
#pragma once

#include "bench/device_memory.hpp"

#include <ricci/dsl/text.hpp>
#include <ricci/runtime/device.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ricci::bench {

struct text_program {
    std::vector<text_statement> statements;
    std::vector<text_operand> operands;      ///< in the order of a set's addresses
    std::vector<text_operand> intermediates; ///< what statements hand each other
};

/// A tensor without gaps, its first index fastest; at no address yet.
text_operand dense(std::string name, lowering::scalar_type type, std::vector<std::int64_t> extents);

std::int64_t elements_of(const text_operand& o);

/// The statements at these addresses. The intermediates are there too; or locals, where there is none.
std::vector<lowering::statement> bind_program(const text_program& p, const std::vector<void*>& operands,
                                              const std::vector<void*>& intermediates, device where);

/// The memory of a program's intermediates, which all sets of operands share.
class intermediate_memory {
  public:
    intermediate_memory(const text_program& p, device where);
    const std::vector<void*>& addresses() const { return addresses_; }

  private:
    device_memory memory_;
    std::vector<void*> addresses_;
};

} // namespace ricci::bench
