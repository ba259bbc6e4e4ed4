// try_text: takes any bytes all the way from text to a plan; only ricci::error may come out. For the fuzzers.
#pragma once

#include <cstdint>
#include <string_view>

namespace ricci::tests {

/// How far `text` came.
enum class reached { refused_text, refused_operands, refused_lowering, planned };

/// Parses `text`, makes up an operand of the right rank for every name, with extents drawn from `seed`, binds and
/// lowers each statement. Whatever is thrown but ricci::error escapes.
reached try_text(std::string_view text, std::uint32_t seed);

} // namespace ricci::tests
