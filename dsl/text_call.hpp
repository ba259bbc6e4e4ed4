// text_call: calls of factorizations and solves in a text, `piv(k,e), info(e) = lu(A(i,j,e), i, j)`.
#pragma once

#include "dsl/text.hpp"

#include "lowering/matrix_call.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::dsl {

/// The routine that a name calls, if it is one's.
std::optional<lowering::routine> routine_named(std::string_view name);

/// The option of a routine that a name is, if it has such.
std::optional<lowering::call_option> option_named(lowering::routine what, std::string_view name);
/// "lower, upper, unit_diagonal", or empty.
std::string options_of(lowering::routine what);

/// Gives the accesses of a call their roles and puts the matrix first: `results` stand left of =, then the matrix,
/// then the arguments behind its indices. A first result with the unknowns' index is what is solved for, else it
/// stands among the arguments. Throws ricci::error where there are too many or too few of them.
void arrange_call(text_statement& s, std::size_t results, std::size_t call_column);

/// What access n, which the call only writes, becomes where no operand has its name: see create_left.
text_operand create_of_call(const text_statement& s, std::size_t n, std::span<const text_operand> operands);

} // namespace ricci::dsl
