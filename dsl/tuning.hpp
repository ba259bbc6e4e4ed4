// tuning: who chooses among the parameters that a kernel may have.
#pragma once

#include "runtime/run.hpp"

namespace ricci {

/// For all statements of the process from now on. Those that ran already are lowered again when they run next; their
/// kernels stay cached. A statement that another thread runs meanwhile meets the old choice or the new one.
inline void set_tuning(tuning choice) { runtime::choose_tuning(choice); }
/// What was set last; tuning::cached at first.
inline tuning current_tuning() { return runtime::chosen_tuning(); }

} // namespace ricci
