// text_roles: which operand of a call each access of a text is, and what is wrong with that.
#pragma once

#include "dsl/text.hpp"

#include <cstddef>

namespace ricci::dsl {

/// Where a call's parts stand in its statement.
struct call_columns {
    std::size_t call = 0, row = 0, column = 0; ///< the routine's name, the indices of the matrix
    std::size_t end = 0;                       ///< the closing parenthesis
};

/// Gives the accesses of a call their roles and puts the matrix first: `results` stand left of =, then the matrix,
/// then the arguments behind its indices. A first result with the unknowns' index is what is solved for, else it
/// stands among the arguments. Throws ricci::error where there are too many or too few of them, or where one cannot
/// be what it stands for whatever its tensor's shape.
void arrange_call(text_statement& s, std::size_t results, const call_columns& at);

} // namespace ricci::dsl
