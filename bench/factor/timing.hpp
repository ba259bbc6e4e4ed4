// timing: times contenders that destroy what they are given: it is put back before each call, and not timed.
#pragma once

#include "bench/device_tools.hpp"
#include "bench/gpu_facts.hpp"
#include "bench/measure.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ricci::bench::factor {

/// One way to do the work.
struct entrant {
    std::string peer, variant;
    /// Puts back what `run` spoils, on the device's current stream; empty where it spoils nothing.
    std::function<void(std::size_t set)> restore;
    std::function<void(std::size_t set)> run;
    std::function<findings()> check; ///< of the first set, after one call
    int spoils = 0;                  ///< entrants with the same number put back the same
};

/// As bench::measure does it, ricci's being the first: each is called once on the first set, checked, and then timed
/// in rounds in turn. Before a round all sets are put back; it has as many calls as there are sets at most, which
/// are timed together: none begins with another's results, no copy is in a time, and operands come from memory where
/// all sets together exceed the caches.
///
/// Joules are those of copies and calls together less those of the copies alone, each for options.metered_seconds; the
/// copies are measured once for all that spoil the same. So a call's share of what the device takes idle stays in.
std::vector<measured> time_in_turn(const std::vector<entrant>& all, std::size_t sets, device where,
                                   device_tools& tools, energy_meter* meter, const measure_options& options);

} // namespace ricci::bench::factor
