// random_program: programs of contractions and functions of a few elements' numbers, whose locals hand each other on.
#pragma once

#include "dsl/text.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ricci::tests {

struct random_program {
    std::vector<std::string> statements; ///< as text
    std::vector<text_operand> operands;  ///< without data
    std::vector<std::string> locals;     ///< which of them
    std::string text() const;
};

/// A third of them has tensors of one type, a third operands of narrower types too, a third of any; a half of them
/// end by adding through a table.
random_program make_random_program(std::uint64_t seed);

} // namespace ricci::tests
