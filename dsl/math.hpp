// math: whether a GPU's tensor cores may round f32 to TF32.
#pragma once

#include "runtime/math_mode.hpp"

#include <optional>

namespace ricci {

/// For the statements of all threads from now on; math::full at first, or what RICCI_MATH says. math::tf32: products
/// of f32 and of c64 that tensor cores make round each number to TF32, to nearest: 11 bits of the 24. Sums are
/// carried in f32, and all else is as before.
inline void set_math(math choice) { runtime::choose_math(choice); }

/// Of this thread's statements.
inline math current_math() { return runtime::chosen_math(); }

/// Sets the mode of this thread's statements for its lifetime, whatever set_math says; nests. Statements of a
/// recorded program have the mode of the place where the program is called, unless the scope stands in its callable.
class math_scope {
  public:
    explicit math_scope(math choice) : outer_(runtime::exchange_thread_math(choice)) {}
    ~math_scope() { runtime::exchange_thread_math(outer_); }
    math_scope(const math_scope&) = delete;
    math_scope& operator=(const math_scope&) = delete;

  private:
    std::optional<math> outer_;
};

} // namespace ricci
