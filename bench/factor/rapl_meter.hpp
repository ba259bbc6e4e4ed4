// rapl_meter: what a CPU's packages take, by RAPL's counters in sysfs, which many systems let only root read.
#pragma once

#include "bench/gpu_facts.hpp"

#include <memory>

namespace ricci::bench::factor {

/// Of all packages together, whoever keeps them busy. Throws ricci::error (environment) where no counter can be
/// read.
std::unique_ptr<energy_meter> make_rapl_meter();

} // namespace ricci::bench::factor
