// bandwidth: what the device's memory gives.
#include "bench/bandwidth.hpp"

#include "bench/device_memory.hpp"
#include "bench/measure.hpp"

#include <ricci/lowering/error.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace ricci::bench {

namespace {

constexpr int repetitions = 7, slow_repetitions = 3;
constexpr double slow_seconds = 20e-3; ///< from here on the fewer do
constexpr std::int64_t least_bytes = 1 << 20;
constexpr std::int64_t whole = 4096; ///< each array is a multiple of it

/// Memory for `bytes`, or for half as often as needed.
device_memory take(device where, std::int64_t bytes) {
    for (;; bytes /= 2) try {
            return {where, static_cast<std::size_t>(bytes)};
        } catch (const error&) {
            if (bytes < least_bytes) throw;
        }
}

/// Bytes a second of the fastest of `kinds` ways.
double best(runtime::backend& b, device_tools& tools, int kinds, double bytes, const std::function<void(int)>& run) {
    double most = 0;
    for (int kind = 0; kind < kinds; ++kind) {
        const double first = b.seconds_of([&] { run(kind); }); // to warm up
        std::vector<double> seconds;
        for (int n = 0; n < (first < slow_seconds ? repetitions : slow_repetitions); ++n) {
            tools.delay(20e-6);
            seconds.push_back(b.seconds_of([&] { run(kind); }));
        }
        most = std::max(most, bytes / median(seconds));
    }
    return most;
}

} // namespace

bandwidth measure_bandwidth(device where, device_tools& tools, std::int64_t bytes, gpu_facts* facts) {
    runtime::backend& b = runtime::backend_of(where);
    const device_memory memory = take(where, std::max(bytes, least_bytes));
    const auto all = static_cast<std::int64_t>(memory.bytes());
    const std::int64_t each = all / 3 / whole * whole, read = all / whole * whole;
    tools.fill(lowering::scalar_type::f64, memory.data(), all / 8,
               random_numbers_of(lowering::scalar_type::f64, 7, 1));
    char* const z = memory.data();
    bandwidth out;
    out.read =
        best(b, tools, tools.read_kinds(), static_cast<double>(read), [&](int kind) { tools.read(z, read, kind); });
    out.triad = best(b, tools, tools.triad_kinds(), 3 * static_cast<double>(each),
                     [&](int kind) { tools.triad(z, z + each, z + 2 * each, each, kind); });
    if (facts) {
        for (int n = 0; n < 20; ++n) tools.triad(z, z + each, z + 2 * each, each, 0);
        *facts = facts_of(where);
        b.synchronize();
    }
    return out;
}

} // namespace ricci::bench
