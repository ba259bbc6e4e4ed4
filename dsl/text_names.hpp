// text_names: names that mean something in a text, and what is said of those that look as if they did.
#pragma once

#include "lowering/matrix_call.hpp"
#include "lowering/statement.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ricci::dsl {

inline constexpr std::string_view padded_keyword = "padded", distinct_keyword = "distinct", atomic_keyword = "atomic";

/// The function that a name calls, if it is one's.
std::optional<lowering::operation> function_named(std::string_view name);
/// A name that other languages have a function for; before an access it is a mistake, else an index table's user.
bool is_missing_function(std::string_view name);
/// "conj, relu, ...".
std::string all_functions();

/// The routine that a name calls, if it is one's.
std::optional<lowering::routine> routine_named(std::string_view name);
/// Whether a name is nearly a routine's.
bool is_nearly_routine(std::string_view name);
/// "there is no routine 'choleksy'; the nearest is cholesky", or, where none is near, all of them.
std::string no_routine(std::string_view name);

/// The option of a routine that a name is, if it has such.
std::optional<lowering::call_option> option_named(lowering::routine what, std::string_view name);
/// Behind its name: ": there are lower, upper, unit_diagonal", ", which has none".
std::string options_of(lowering::routine what);

} // namespace ricci::dsl
