// energy: what one call takes of the power supply, by a GPU's meter or a CPU's.
#pragma once

#include "bench/gpu_facts.hpp"

#include <functional>

namespace ricci::bench {

/// Joules of one `call`, which takes about `seconds`: repeated for `at_least` so many seconds between two steps of the
/// meter, which moves on only now and then.
double joules_of(const std::function<void()>& call, double seconds, device where, energy_meter& meter,
                 double at_least);

} // namespace ricci::bench
