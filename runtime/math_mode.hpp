// math_mode: how exactly the f32 products of statements to come are made.
#pragma once

#include "lowering/scalar_type.hpp"

#include <optional>
#include <string>

namespace ricci {

using math = lowering::math_mode;

} // namespace ricci

namespace ricci::runtime {

/// For the statements of all threads from now on, but those within a scope of their thread.
void choose_math(math choice);

/// Of this thread's statements: its scope's, else what was chosen; at first what RICCI_MATH says, else math::full.
/// Throws ricci::error (environment) where RICCI_MATH has another word.
math chosen_math();

/// Gives this thread a scope's mode, or none; returns what it had.
std::optional<math> exchange_thread_math(std::optional<math> choice) noexcept;

/// Reads a mode's name; throws ricci::error for anything but "full" and "tf32".
math parse_math(const std::string& name);

} // namespace ricci::runtime
