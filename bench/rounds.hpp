// rounds: how times are taken of contenders in turn, whatever a call of theirs is.
#pragma once

#include "bench/interrupt.hpp"
#include "bench/measure.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace ricci::bench {

/// How long short calls are repeated for one time.
struct pace {
    double round_seconds; ///< what the calls of a round take together
    int most_calls;       ///< of a round
    bool waits;           ///< a call returns when it has finished
};
constexpr pace queued{500e-6, 100, false}; // a stream's queue holds about a thousand
constexpr pace at_once{1e-3, 1'000'000, true};

/// A contender's rounds and their times. A runner derives from it, and has calibrate() and run_round() besides.
class timed_rounds {
  public:
    bool wants_round(int round) const { return out.failure.empty() && round < rounds_; }

    void finish() {
        if (!out.failure.empty() || seconds_.empty()) return;
        out.fastest = *std::min_element(seconds_.begin(), seconds_.end());
        out.seconds = by_ == timed_by::processor ? out.fastest : median(seconds_);
        out.rounds = static_cast<int>(seconds_.size());
    }

    measured out;

  protected:
    timed_rounds(const pace& p, timed_by by) : pace_(p), by_(by) {}

    /// What the calls of a round took.
    double seconds_of(runtime::backend& b, const std::function<void()>& calls) const {
        return by_ == timed_by::processor ? processor_seconds_of(calls) : b.seconds_of(calls);
    }

    /// A slow call averages by itself: its time is a round's, and few more do.
    bool is_round_already(double first) {
        constexpr double slow_seconds = 20e-3, very_slow_seconds = 200e-3;
        constexpr int slow_rounds = 3;
        if (first <= slow_seconds) return false;
        seconds_.push_back(first);
        rounds_ = first > very_slow_seconds ? 0 : slow_rounds - 1;
        return true;
    }

    /// How many calls of so many seconds make a round.
    int calls_of(double seconds, double most) const {
        return static_cast<int>(std::clamp(std::ceil(pace_.round_seconds / std::max(seconds, 1e-9)), 1.0, most));
    }

    /// How long the device is kept busy so that the host has queued a round behind it.
    static double delay_behind(double host_seconds) { return std::min(1.3 * host_seconds + 20e-6, 10e-3); }

    pace pace_;
    timed_by by_;
    int calls_ = 1, rounds_ = std::numeric_limits<int>::max();
    double delay_ = 0;
    std::vector<double> seconds_;
};

/// f() for a runner; a peer that throws is out, ricci is not.
template <class F>
void guarded(timed_rounds& r, F f) {
    if (!r.out.failure.empty()) return;
    try {
        f();
    } catch (const error& e) {
        if (r.out.peer == "ricci") throw;
        r.out.failure = e.what();
    }
}

/// Calibrated already: at most `most` rounds of each, one contender after the other in each.
template <class Runner>
void run_rounds(std::vector<Runner>& all, int most) {
    for (int round = 0; round < most && !interrupted(); ++round)
        for (Runner& r : all)
            if (r.wants_round(round)) guarded(r, [&] { r.run_round(); });
    for (Runner& r : all) r.finish();
}

/// f(r) for each that is its peer's fastest way with results within the bound.
template <class Runner, class F>
void for_each_best(std::vector<Runner>& all, F f) {
    const auto is_right = [](const Runner& r) { return r.out.seconds > 0 && !is_wrong(r.out); };
    const auto is_best = [&](const Runner& r) {
        return is_right(r) && std::none_of(all.begin(), all.end(), [&](const Runner& other) {
                   return other.out.peer == r.out.peer && is_right(other) && other.out.seconds < r.out.seconds;
               });
    };
    for (Runner& r : all)
        if (is_best(r) && !interrupted()) guarded(r, [&] { f(r); });
}

/// What came of them, in their order.
template <class Runner>
std::vector<measured> results_of(std::vector<Runner>& all) {
    std::vector<measured> out;
    for (Runner& r : all) out.push_back(std::move(r.out));
    return out;
}

} // namespace ricci::bench
