// energy: what one call takes of the power supply.
#include "bench/energy.hpp"

#include <ricci/lowering/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ricci::bench {

namespace {

using clock_type = std::chrono::steady_clock;

constexpr double patience = 10;        ///< seconds after which a meter that stands still is broken
constexpr double chunk_seconds = 3e-3; ///< calls between two looks at the meter

} // namespace

double joules_of(const std::function<void()>& call, double seconds, device where, energy_meter& meter,
                 double at_least) {
    const auto since = [](clock_type::time_point begin) {
        return std::chrono::duration<double>(clock_type::now() - begin).count();
    };
    const int chunk = std::clamp(static_cast<int>(std::ceil(chunk_seconds / seconds)), 1, 500);
    const auto start = clock_type::now();
    double last = meter.joules(), first = last;
    bool counting = false; // from the meter's first step on
    clock_type::time_point begin{};
    double calls = 0;
    for (;;) {
        for (int n = 0; n < chunk; ++n) call();
        synchronize(where);
        calls += chunk;
        const double now = meter.joules();
        if (now == last) {
            if (since(start) > patience) throw error("the energy meter stands still", blame::environment);
            continue;
        }
        last = now;
        if (!counting) {
            counting = true;
            begin = clock_type::now();
            first = now, calls = 0;
        } else if (since(begin) >= at_least) {
            return (now - first) / calls;
        }
    }
}

} // namespace ricci::bench
