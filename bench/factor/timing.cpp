// timing: rounds of calls, each on a set that was put back before the clock started.
#include "bench/factor/timing.hpp"

#include "bench/energy.hpp"
#include "bench/interrupt.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace ricci::bench::factor {

namespace {

using clock_type = std::chrono::steady_clock;

// As in bench/measure.cpp.
constexpr double round_seconds_of_gpu = 500e-6, round_seconds_of_cpu = 1e-3;
constexpr int most_calls_of_gpu = 100; ///< a stream's queue holds about a thousand launches
constexpr double slow_seconds = 20e-3; ///< from here on fewer rounds do
constexpr int slow_rounds = 3;
constexpr double very_slow_seconds = 200e-3; ///< and here one

class runner {
  public:
    runner(const entrant& e, std::size_t sets, device where, device_tools& tools)
        : entrant_(e), sets_(sets), is_gpu_(!where.is_cpu()), tools_(tools), backend_(runtime::backend_of(where)) {
        out.peer = e.peer, out.variant = e.variant;
    }

    /// Compiles, allocates, warms up.
    void call_first(bool check) {
        entrant_.restore(0);
        entrant_.run(0);
        backend_.synchronize();
        if (check && entrant_.check) out.checked = entrant_.check();
    }

    /// Finds how many calls a round has, and how long the host needs for them. A slow call is a round already.
    void calibrate() {
        const double first = timed(1);
        out.calls_a_round = 1;
        if (first > slow_seconds) {
            seconds_.push_back(first);
            rounds_ = first > very_slow_seconds ? 0 : slow_rounds - 1;
            return;
        }
        calls_ = calls_of(first);
        if (is_gpu_) {
            restore();
            const auto begin = clock_type::now();
            call();
            const double host = std::chrono::duration<double>(clock_type::now() - begin).count();
            delay_ = std::min(1.3 * host + 20e-6, 10e-3);
        } else { // a first call is cold, and any may be disturbed
            double fastest = first;
            for (int n = 0; n < 4; ++n) {
                calls_ = calls_of(fastest);
                fastest = std::min(fastest, timed(calls_) / calls_);
            }
            calls_ = calls_of(fastest);
        }
        out.calls_a_round = calls_;
    }

    bool wants_round(int round) const { return out.failure.empty() && round < rounds_; }
    void run_round() { seconds_.push_back(timed(calls_) / calls_); }

    void finish() {
        if (!out.failure.empty() || seconds_.empty()) return;
        out.seconds = median(seconds_);
        out.fastest = *std::min_element(seconds_.begin(), seconds_.end());
        out.rounds = static_cast<int>(seconds_.size());
    }

    void meter(device where, energy_meter& m) {
        std::size_t set = 0;
        const auto restore_next = [&] { entrant_.restore(set = (set + 1) % sets_); };
        const double both = joules_of([&] { restore_next(), entrant_.run(set); }, 2 * out.seconds, where, m);
        out.joules = std::max(0.0, both - joules_of(restore_next, out.seconds, where, m));
    }

    measured out;

  private:
    int calls_of(double seconds) const {
        const double wanted = (is_gpu_ ? round_seconds_of_gpu : round_seconds_of_cpu) / std::max(seconds, 1e-9);
        const double most =
            is_gpu_ ? std::min<double>(most_calls_of_gpu, static_cast<double>(sets_)) : static_cast<double>(sets_);
        return static_cast<int>(std::clamp(std::ceil(wanted), 1.0, most));
    }

    /// All sets, those of the next round first: copies of the others push them out of the caches again. The sets go
    /// round, so that all are used.
    void restore() {
        for (std::size_t n = 0; n < sets_; ++n) entrant_.restore((first_ + n) % sets_);
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
        return backend_.seconds_of([&] { call(); });
    }

    const entrant& entrant_;
    std::size_t sets_, first_ = 0;
    bool is_gpu_;
    device_tools& tools_;
    runtime::backend& backend_;
    int calls_ = 1, rounds_ = std::numeric_limits<int>::max();
    double delay_ = 0;
    std::vector<double> seconds_;
};

/// f() for a runner; a peer that throws is out, ricci is not.
template <class F>
void guarded(runner& r, F f) {
    if (!r.out.failure.empty()) return;
    try {
        f();
    } catch (const error& e) {
        if (r.out.peer == "ricci") throw;
        r.out.failure = e.what();
    }
}

/// Whether `r` is its peer's fastest way with results within the bound.
bool is_best(const runner& r, const std::vector<runner>& all) {
    const auto is_right = [](const runner& x) { return x.out.seconds > 0 && !is_wrong(x.out); };
    return is_right(r) && std::none_of(all.begin(), all.end(), [&](const runner& other) {
               return other.out.peer == r.out.peer && is_right(other) && other.out.seconds < r.out.seconds;
           });
}

} // namespace

std::vector<measured> time_in_turn(const std::vector<entrant>& entrants, std::size_t sets, device where,
                                   device_tools& tools, energy_meter* meter, const measure_options& options) {
    std::vector<runner> all;
    all.reserve(entrants.size());
    for (const entrant& e : entrants) all.emplace_back(e, sets, where, tools);
    for (runner& r : all) guarded(r, [&] { r.call_first(options.check); });
    for (runner& r : all)
        if (!interrupted()) guarded(r, [&] { r.calibrate(); });
    for (int round = 0; round < options.repeat && !interrupted(); ++round)
        for (runner& r : all)
            if (r.wants_round(round)) guarded(r, [&] { r.run_round(); });
    for (runner& r : all) r.finish();
    if (meter)
        for (runner& r : all)
            if (is_best(r, all) && !interrupted()) guarded(r, [&] { r.meter(where, *meter); });
    std::vector<measured> out;
    for (runner& r : all) out.push_back(std::move(r.out));
    return out;
}

} // namespace ricci::bench::factor
