// first_use: tunes a statement's kernels when it runs for the first time.
#include "runtime/first_use.hpp"

#include "lowering/choose_tile.hpp"
#include "lowering/error.hpp"
#include "lowering/tile_candidates.hpp"
#include "runtime/executable.hpp"
#include "runtime/tuner.hpp"
#include "runtime/tuning_database.hpp"

#include <mutex>
#include <new>

namespace ricci::runtime {

using namespace lowering;

bool tune_steps(backend& b, const statement& s, const plan& p) {
    static std::mutex alone; // two measurements at once would measure each other
    tuning_effort effort;
    effort.prune = 1.2;
    effort.most = 12; // a second at the most, mostly of compiling
    effort.samples = 3;
    bool found = false;
    for (const auto& st : p.steps) {
        if (!is_worth_tuning(st, b.machine()) || !executable::has_work(st)) continue;
        if (st.origin == tile_origin::measured || st.origin == tile_origin::shipped) continue;
        const std::lock_guard lock(alone);
        auto& database = tuning_database_of(b.machine());
        const auto measured = database.measured();
        auto again = st;
        choose_tile(again, b.machine(), {measured.get(), nullptr});
        if (again.origin == tile_origin::measured) { // meanwhile, by another thread
            found = true;
            continue;
        }
        try {
            if (plan_tuning(st, b.machine(), effort).count(candidate::outcome::measured) < 2) continue;
            const auto tuned = tune_step(b, st, s, effort);
            if (!tuned.best) continue;
            tuning_table one;
            one.put(tuned.key, {tuned.candidates[*tuned.best].tile, tuned.candidates[*tuned.best].seconds});
            database.keep(one);
            found = true;
        } catch (const error& e) {
            if (e.blame() != blame::environment) throw;
        } catch (const std::bad_alloc&) {
        }
    }
    return found;
}

} // namespace ricci::runtime
