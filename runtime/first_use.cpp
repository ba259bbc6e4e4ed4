// first_use: tunes the kernels of a statement or a program when it runs for the first time.
#include "runtime/first_use.hpp"

#include "lowering/error.hpp"
#include "runtime/tuner.hpp"
#include "runtime/tuning_database.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace ricci::runtime {

using namespace lowering;

namespace {

tuning_effort quick_effort() {
    tuning_effort effort;
    effort.prune = 1.2;
    effort.most = 12; // a second at the most, mostly of compiling
    effort.samples = 3;
    return effort;
}

bool is_measured(tile_origin o) { return o == tile_origin::measured || o == tile_origin::shipped; }

/// What `tune` finds of candidates that `planned` has, if anything; keeps it. Memory that there is not, or a kernel
/// that fails, leaves the choice to the model.
template <class Tune>
bool keep_best(tuning_database& database, const tuned_step& planned, const Tune& tune) {
    if (planned.count(candidate::outcome::measured) < 2) return false;
    try {
        const auto tuned = tune();
        if (!tuned.best) return false;
        tuning_table one;
        one.put(tuned.key, {tuned.candidates[*tuned.best].tile, tuned.candidates[*tuned.best].seconds});
        database.keep(one);
        return true;
    } catch (const error& e) {
        if (e.blame() != blame::environment) throw;
    } catch (const std::bad_alloc&) {
    }
    return false;
}

} // namespace

bool tune_steps(backend& b, const statement& s, const plan& p) {
    static std::mutex alone; // two measurements at once would measure each other
    const auto effort = quick_effort();
    auto& database = tuning_database_of(b.machine());
    bool found = false;
    for (std::size_t n = 0; n < p.steps.size(); ++n) {
        if (is_measured(p.steps[n].origin) || !is_worth_measuring(p, n, b.machine())) continue;
        const std::lock_guard lock(alone);
        const auto planned = plan_tuning(p, n, b.machine(), effort);
        const auto measured = database.measured();
        const auto* const known = measured->find(planned.key);
        if (known != nullptr && std::ranges::any_of(planned.candidates, [&](const candidate& c) {
                return c.tile == known->tile;
            })) { // meanwhile, by another thread
            found = true;
            continue;
        }
        found = keep_best(database, planned, [&] { return tune_kernel(b, p, n, s, effort); }) || found;
    }
    return found;
}

} // namespace ricci::runtime
