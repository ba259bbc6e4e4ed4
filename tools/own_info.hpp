// own_info: the info that `ricci run` asks calls for that say none, so that nobody takes what failed for a result.
#pragma once

#include "tools/program.hpp"

#include <cstdint>
#include <list>
#include <span>
#include <string>

namespace ricci::tools {

/// Gives a factorization or a solve that has no info one over the batch, named as no tensor of a text can be; the
/// name is kept in `names`. Does nothing for other statements, and where the operands do not bound an index.
void add_own_info(text_statement& s, std::list<std::string>& names, std::span<const text_operand> operands);

/// Whether the statement's info was added.
bool has_own_info(const text_statement& s);

/// "info is not 0 for 2 of 50 matrices, the first is 4 at e = 7"; empty where all are right. `codes` are the entries
/// of `info`, dense, first index fastest.
std::string failures(const text_statement& s, const text_operand& info, std::span<const std::int32_t> codes);

} // namespace ricci::tools
