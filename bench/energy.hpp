// energy: what one call takes of a GPU's power supply.
#pragma once

#include "bench/gpu_facts.hpp"

#include <functional>

namespace ricci::bench {

/// Joules of one `call`, which takes about `seconds`: repeated for at least half a second between two steps of the
/// meter, which moves on only now and then.
double joules_of(const std::function<void()>& call, double seconds, device where, energy_meter& meter);

} // namespace ricci::bench
