// counters: what the processor counts while something runs: instructions, cycles, loads and stores of all threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ricci::bench {

/// An event as perf_event_open names it.
struct counted_event {
    const char* name;
    std::uint32_t type;
    std::uint64_t config;
};

/// "instructions", "cycles", and "loads" and "stores", which are those of the L1 cache.
std::span<const counted_event> events_of_processor();

/// How often each event happened, in the order of the events; nothing where it is not counted here.
using event_counts = std::vector<std::optional<double>>;

/// Why none of these events can be counted on this machine; empty if one can.
std::string counters_problem(std::span<const counted_event> events);

/// While `work` runs, in user mode, on all threads that the process has when it starts, those that wait for work too.
/// Where the machine counts fewer events at a time than there are, each is scaled up from the time that it was
/// counted.
event_counts count_events(std::span<const counted_event> events, const std::function<void()>& work);

} // namespace ricci::bench
