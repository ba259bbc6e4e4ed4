// tuning: who chooses among the parameters that a kernel may have.
#pragma once

#include "runtime/run.hpp"

namespace ricci {

/// Keeps the choice for the process, all its threads. Statements that ran already are lowered again when they run next; their kernels
/// stay cached. Not to be called while another thread runs statements of which it must not matter which choice they meet.
inline void set_tuning(tuning choice) { runtime::choose_tuning(choice); }
/// What was set last; tuning::cached at first.
inline tuning current_tuning() { return runtime::chosen_tuning(); }

} // namespace ricci
