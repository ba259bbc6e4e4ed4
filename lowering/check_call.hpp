// check_call: what is wrong with a call of a factorization or a solve before its indices are fixed.
#pragma once

#include "lowering/statement.hpp"

namespace ricci::lowering {

/// What can be wrong with a call before anything looks for how far indices run: index tables, padded operands. That
/// the matrix has its two indices C++'s types say, and the parser of a text. Throws ricci::error.
void check_call(const statement& s);

} // namespace ricci::lowering
