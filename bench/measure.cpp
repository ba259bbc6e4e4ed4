// measure: times contenders in turn.
#include "bench/measure.hpp"

#include "bench/energy.hpp"
#include "bench/rounds.hpp"

#include <ricci/runtime/backend.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace ricci::bench {

namespace {

using clock_type = std::chrono::steady_clock;

double since(clock_type::time_point begin) {
    return std::chrono::duration<double>(clock_type::now() - begin).count();
}

/// A contender on its way: what it is called with next, and its times.
class runner : public timed_rounds {
  public:
    runner(const contender& c, std::size_t sets, device_tools& tools, runtime::backend& b, const pace& p, timed_by by)
        : timed_rounds(p, by), contender_(c), sets_(sets), tools_(tools), backend_(b) {
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
        if (is_round_already(first)) return;
        calls_ = calls_of(first, pace_.most_calls);
        const double host = seconds_of_calls();
        delay_ = delay_behind(host);
        backend_.synchronize();
        if (pace_.waits) { // a first call is cold, and any may be disturbed
            double fastest = host / calls_;
            for (int n = 0; n < 3; ++n) {
                calls_ = calls_of(fastest, pace_.most_calls);
                fastest = std::min(fastest, seconds_of_calls() / calls_);
            }
            calls_ = calls_of(fastest, pace_.most_calls);
        }
        out.calls_a_round = calls_;
    }

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

  private:
    /// What the host takes for the calls of a round.
    double seconds_of_calls() {
        const auto begin = clock_type::now();
        for (int n = 0; n < calls_; ++n) call();
        return since(begin);
    }

    double timed(int calls, double delay) {
        if (delay > 0) tools_.delay(delay);
        return seconds_of(backend_, [&] {
            for (int n = 0; n < calls; ++n) call();
        });
    }

    const contender& contender_;
    std::size_t sets_, next_ = 0;
    device_tools& tools_;
    runtime::backend& backend_;
};

} // namespace

bool is_wrong(const measured& m) { return m.checked && m.checked->wrong > 0; }

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double processor_seconds_of(const std::function<void()>& calls) {
    const auto now = [] {
        std::timespec t{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    };
    const double begin = now();
    calls();
    return now() - begin;
}

std::vector<measured> measure(const workload& w, device where, device_tools& tools, energy_meter* meter,
                              const measure_options& options) {
    runtime::backend& backend = runtime::backend_of(where);
    std::vector<runner> all;
    all.reserve(w.contenders.size());
    for (const contender& c : w.contenders)
        all.emplace_back(c, w.sets, tools, backend, where.is_cpu() ? at_once : queued, options.by);

    for (runner& r : all)
        guarded(r, [&] {
            if (options.check && w.reset) w.reset();
            r.call(); // compiles, allocates, warms up
            backend.synchronize();
            if (options.check && w.check && r.computes()) r.show(), r.out.checked = w.check();
        });
    for (runner& r : all) guarded(r, [&] { r.calibrate(); });
    run_rounds(all, options.repeat);
    if (options.count)
        for (runner& r : all)
            if (!interrupted()) guarded(r, [&] { r.count(); });
    if (meter)
        for_each_best(all, [&](runner& r) {
            r.out.joules = joules_of([&] { r.call(); }, r.out.seconds, where, *meter, options.metered_seconds);
        });
    return results_of(all);
}

} // namespace ricci::bench
