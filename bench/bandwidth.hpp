// bandwidth: what the device's memory gives to a triad and to reading alone; the yardsticks of a run.
#pragma once

#include "bench/device_tools.hpp"
#include "bench/gpu_facts.hpp"

namespace ricci::bench {

/// Bytes a second.
struct bandwidth {
    double triad = 0; ///< z = x + 3*y, each array once
    double read = 0;
};

/// The best of every kind the tools have, over `bytes` in all, or less where memory is short. `facts`, where given,
/// are asked for while the triad runs.
bandwidth measure_bandwidth(device where, device_tools& tools, std::int64_t bytes, gpu_facts* facts);

} // namespace ricci::bench
