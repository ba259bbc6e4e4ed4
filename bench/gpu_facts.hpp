// gpu_facts: what the driver and its management library tell of a GPU: versions, clock, energy.
#pragma once

#include <ricci/runtime/device.hpp>

#include <memory>
#include <string>

namespace ricci::bench {

struct gpu_facts {
    std::string driver;    ///< "580.159.03"; empty where unknown
    std::string cuda;      ///< what the driver supports: "13.0"
    int clock_mhz = 0;     ///< of the SMs, now
    int max_clock_mhz = 0; ///< the highest
};

/// Asks while the GPU works: an idle one clocks down. Nothing of a device that is no GPU.
gpu_facts facts_of(device where);

/// Counts what a GPU takes.
class energy_meter {
  public:
    virtual ~energy_meter() = default;
    /// Joules since some time in the past; moves on every 20 to 100 ms.
    virtual double joules() = 0;
};

/// Throws ricci::error (environment) where there is no NVML, or the GPU does not count.
std::unique_ptr<energy_meter> make_energy_meter(device where);

} // namespace ricci::bench
