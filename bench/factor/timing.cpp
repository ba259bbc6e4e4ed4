// timing: rounds of calls, each on a set that was put back before the clock started.
#include "bench/factor/timing.hpp"

#include "bench/energy.hpp"
#include "bench/interrupt.hpp"
#include "bench/rounds.hpp"

#include <ricci/runtime/backend.hpp>

#include <algorithm>
#include <chrono>
#include <map>

namespace ricci::bench::factor {

namespace {

using clock_type = std::chrono::steady_clock;

class runner : public timed_rounds {
  public:
    runner(const entrant& e, std::size_t sets, device where, device_tools& tools, timed_by by)
        : timed_rounds(where.is_cpu() ? at_once : queued, by), entrant_(e), sets_(sets), tools_(tools),
          backend_(runtime::backend_of(where)) {
        out.peer = e.peer, out.variant = e.variant;
    }

    /// Compiles, allocates, warms up.
    void call_first(bool check) {
        if (entrant_.restore) entrant_.restore(0);
        entrant_.run(0);
        backend_.synchronize();
        if (check && entrant_.check) out.checked = entrant_.check();
    }

    /// Finds how many calls a round has, and how long the host needs for them. A slow call is a round already.
    void calibrate() {
        const double first = timed(1);
        out.calls_a_round = 1;
        if (is_round_already(first)) return;
        calls_ = round_of(first);
        if (!pace_.waits) {
            restore();
            const auto begin = clock_type::now();
            call();
            const double host = std::chrono::duration<double>(clock_type::now() - begin).count();
            delay_ = delay_behind(host);
        } else { // a first call is cold, and any may be disturbed
            double fastest = first;
            for (int n = 0; n < 4; ++n) {
                calls_ = round_of(fastest);
                fastest = std::min(fastest, timed(calls_) / calls_);
            }
            calls_ = round_of(fastest);
        }
        out.calls_a_round = calls_;
    }

    void run_round() { seconds_.push_back(timed(calls_) / calls_); }

    /// `copies`: joules of what entrants put back, by its number, as far as it was measured.
    void meter(device where, energy_meter& m, double at_least, std::map<int, double>& copies) {
        std::size_t set = 0;
        const auto restore_next = [&] {
            set = (set + 1) % sets_;
            if (entrant_.restore) entrant_.restore(set);
        };
        const auto joules_of = [&](const auto& call, double seconds) {
            return bench::joules_of(call, seconds, where, m, at_least);
        };
        const double both = joules_of([&] { restore_next(), entrant_.run(set); }, 2 * out.seconds);
        if (entrant_.restore && !copies.contains(entrant_.spoils))
            copies[entrant_.spoils] = joules_of(restore_next, out.seconds);
        const double joules = both - (entrant_.restore ? copies[entrant_.spoils] : 0);
        if (joules > 0) out.joules = joules; // else the meter does not resolve it, and nothing is told
    }

  private:
    /// A set is good for one call.
    int round_of(double seconds) const {
        return calls_of(seconds, std::min<double>(pace_.most_calls, static_cast<double>(sets_)));
    }

    /// All sets, those of the next round first: copies of the others push them out of the caches again. The sets go
    /// round, so that all are used.
    void restore() {
        for (std::size_t n = 0; entrant_.restore && n < sets_; ++n) entrant_.restore((first_ + n) % sets_);
        backend_.synchronize();
    }
    void call() {
        for (int n = 0; n < calls_; ++n) entrant_.run((first_ + static_cast<std::size_t>(n)) % sets_);
        first_ = (first_ + static_cast<std::size_t>(calls_)) % sets_;
    }

    double timed(int calls) {
        calls_ = calls;
        restore();
        if (delay_ > 0) tools_.delay(delay_);
        return seconds_of(backend_, [&] { call(); });
    }

    const entrant& entrant_;
    std::size_t sets_, first_ = 0;
    device_tools& tools_;
    runtime::backend& backend_;
};

} // namespace

std::vector<measured> time_in_turn(const std::vector<entrant>& entrants, std::size_t sets, device where,
                                   device_tools& tools, energy_meter* meter, const measure_options& options) {
    std::vector<runner> all;
    all.reserve(entrants.size());
    for (const entrant& e : entrants) all.emplace_back(e, sets, where, tools, options.by);
    for (runner& r : all) guarded(r, [&] { r.call_first(options.check); });
    for (runner& r : all)
        if (!interrupted()) guarded(r, [&] { r.calibrate(); });
    run_rounds(all, options.repeat);
    std::map<int, double> copies;
    if (meter) for_each_best(all, [&](runner& r) { r.meter(where, *meter, options.metered_seconds, copies); });
    return results_of(all);
}

} // namespace ricci::bench::factor
