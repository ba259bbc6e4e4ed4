// measure: times contenders in turn, on operands that change from one call to the next.
#pragma once

#include "bench/counters.hpp"
#include "bench/device_tools.hpp"
#include "bench/gpu_facts.hpp"
#include "bench/peers/peer.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ricci::bench {

/// What came of a contender.
struct measured {
    std::string peer, variant;
    double seconds = 0; ///< of one call: the median of all rounds, or, see timed_by, the fastest; 0 where it failed
    double fastest = 0;
    int rounds = 0, calls_a_round = 0;
    std::optional<findings> checked;
    std::optional<double> joules; ///< a call
    event_counts counts;          ///< a call, in the order of events_of_processor(); empty where none was asked for
    std::string failure;          ///< why there is no time
};

/// Whether it was checked and found further off than the bound.
bool is_wrong(const measured& m);

/// Which clock. wall: the device's, of whose rounds the median counts. processor: what this process had of a CPU, of
/// whose rounds the fastest counts: on a machine that others keep busy both tell more.
enum class timed_by { wall, processor };

struct measure_options {
    int repeat = 15;    ///< rounds at most
    bool check = true;  ///< the first call of each contender
    bool count = false; ///< the processor's events, of a CPU
    timed_by by = timed_by::wall;
    double metered_seconds = 0.5; ///< for which a call is repeated at least, to measure its energy
};

struct workload {
    std::vector<contender> contenders; ///< ricci first
    std::size_t sets = 1;              ///< of operands, to be used in turn
    std::function<void()> reset;       ///< gives what is written its first values; may be empty
    std::function<findings()> check;   ///< of the first set, after one call; may be empty
};

/// Every contender is called once, checked, and then timed in rounds, one contender after the other in each. Short
/// calls are timed several at once: on a GPU queued behind a delay, so that the host's part is not seen, on a CPU for
/// a millisecond at least. A peer that throws is out, with the reason; what ricci throws is thrown.
std::vector<measured> measure(const workload& w, device where, device_tools& tools, energy_meter* meter,
                              const measure_options& options);

double median(std::vector<double> values);

/// What all threads of this process have of the processors while `calls` runs.
double processor_seconds_of(const std::function<void()>& calls);

} // namespace ricci::bench
