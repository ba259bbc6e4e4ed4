// measure: times contenders in turn.
#include "bench/measure.hpp"

#include "bench/energy.hpp"
#include "bench/interrupt.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace ricci::bench {

namespace {

using clock_type = std::chrono::steady_clock;

/// How long short calls are repeated for one time.
struct pace {
    double round_seconds; ///< what the calls of a round take together
    int most_calls;       ///< of a round
    bool waits;           ///< a call returns when it has finished
};
constexpr pace queued{500e-6, 100, false}; // a stream's queue holds about a thousand
constexpr pace at_once{1e-3, 1'000'000, true};

constexpr double slow_seconds = 20e-3;   ///< from here on fewer rounds do: such a call averages by itself
constexpr int slow_rounds = 3;
constexpr double very_slow_seconds = 200e-3; ///< and here one

double since(clock_type::time_point begin) {
    return std::chrono::duration<double>(clock_type::now() - begin).count();
}

/// A contender on its way: what it is called with next, and its times.
class runner {
  public:
    runner(const contender& c, std::size_t sets, device_tools& tools, runtime::backend& b, const pace& p)
        : contender_(c), sets_(sets), tools_(tools), backend_(b), pace_(p) {
        out.peer = c.peer, out.variant = c.variant;
    }

    bool computes() const { return contender_.computes; }
    void call() { contender_.run(next_++ % sets_); }
    void show() const {
        if (contender_.show) contender_.show();
    }

    /// Finds how many calls a round has, and how long the host needs for them. A slow call is a round already.
    void calibrate() {
        const double first = timed(1, 0);
        out.calls_a_round = calls_;
        if (first > slow_seconds) {
            seconds_.push_back(first);
            rounds_ = first > very_slow_seconds ? 0 : slow_rounds - 1;
            return;
        }
        calls_ = calls_of(first);
        const double host = seconds_of_calls();
        delay_ = std::min(1.3 * host + 20e-6, 10e-3);
        backend_.synchronize();
        if (pace_.waits) { // a first call is cold, and any may be disturbed
            double fastest = host / calls_;
            for (int n = 0; n < 3; ++n) {
                calls_ = calls_of(fastest);
                fastest = std::min(fastest, seconds_of_calls() / calls_);
            }
            calls_ = calls_of(fastest);
        }
        out.calls_a_round = calls_;
    }

    bool wants_round(int round) const { return out.failure.empty() && round < rounds_; }

    /// The processor's events in one round more.
    void count() {
        const int calls = std::max(calls_, 1);
        out.counts = count_events(events_of_processor(), [&] {
            for (int n = 0; n < calls; ++n) call();
        });
        for (auto& each : out.counts)
            if (each) *each /= calls;
    }

    void run_round() {
        // On a CPU threads wake and caches fill again after another's round: a tenth of the calls are for that.
        for (int n = 0; pace_.waits && n < calls_ / 10; ++n) call();
        seconds_.push_back(timed(calls_, delay_) / calls_);
    }

    void finish() {
        if (!out.failure.empty() || seconds_.empty()) return;
        out.seconds = median(seconds_);
        out.fastest = *std::min_element(seconds_.begin(), seconds_.end());
        out.rounds = static_cast<int>(seconds_.size());
    }

    measured out;

  private:
    int calls_of(double seconds) const {
        return static_cast<int>(
            std::clamp(std::ceil(pace_.round_seconds / std::max(seconds, 1e-9)), 1.0, 1.0 * pace_.most_calls));
    }

    /// What the host takes for the calls of a round.
    double seconds_of_calls() {
        const auto begin = clock_type::now();
        for (int n = 0; n < calls_; ++n) call();
        return since(begin);
    }

    double timed(int calls, double delay) {
        if (delay > 0) tools_.delay(delay);
        return backend_.seconds_of([&] {
            for (int n = 0; n < calls; ++n) call();
        });
    }

    const contender& contender_;
    std::size_t sets_, next_ = 0;
    device_tools& tools_;
    runtime::backend& backend_;
    pace pace_;
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
    if (r.out.seconds <= 0 || is_wrong(r.out)) return false;
    return std::none_of(all.begin(), all.end(), [&](const runner& other) {
        return other.out.peer == r.out.peer && other.out.seconds > 0 && !is_wrong(other.out) &&
               other.out.seconds < r.out.seconds;
    });
}

} // namespace

bool is_wrong(const measured& m) { return m.checked && m.checked->wrong > 0; }

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::vector<measured> measure(const workload& w, device where, device_tools& tools, energy_meter* meter,
                              const measure_options& options) {
    runtime::backend& backend = runtime::backend_of(where);
    std::vector<runner> all;
    all.reserve(w.contenders.size());
    for (const contender& c : w.contenders)
        all.emplace_back(c, w.sets, tools, backend, where.is_cpu() ? at_once : queued);

    for (runner& r : all)
        guarded(r, [&] {
            if (options.check && w.reset) w.reset();
            r.call(); // compiles, allocates, warms up
            backend.synchronize();
            if (options.check && w.check && r.computes()) r.show(), r.out.checked = w.check();
        });
    for (runner& r : all) guarded(r, [&] { r.calibrate(); });
    for (int round = 0; round < options.repeat && !interrupted(); ++round)
        for (runner& r : all)
            if (r.wants_round(round)) guarded(r, [&] { r.run_round(); });

    for (runner& r : all) r.finish();
    if (options.count)
        for (runner& r : all)
            if (!interrupted()) guarded(r, [&] { r.count(); });
    if (meter)
        for (runner& r : all)
            if (is_best(r, all) && !interrupted())
                guarded(r, [&] { r.out.joules = joules_of([&] { r.call(); }, r.out.seconds, where, *meter); });
    std::vector<measured> out;
    for (runner& r : all) out.push_back(std::move(r.out));
    return out;
}

} // namespace ricci::bench
