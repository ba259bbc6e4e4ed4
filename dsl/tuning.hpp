// tuning: whether kernels may be measured against each other.
#pragma once

#include <atomic>

namespace ricci {

/// off: the cost model chooses; cached: measurements already made are used; on_first_use: made where there are none.
/// There is no tuner yet: the cost model chooses under each of them.
enum class tuning { off, cached, on_first_use };

namespace dsl {
inline std::atomic<tuning> chosen_tuning{tuning::cached};
}

/// Keeps the choice for the process.
inline void set_tuning(tuning choice) { dsl::chosen_tuning = choice; }
/// What was set last; tuning::cached at first.
inline tuning current_tuning() { return dsl::chosen_tuning; }

} // namespace ricci
