// lower_for: lowering on a device, with what this process knows of a statement's past sizes.
#include "runtime/lower_for.hpp"

#include "runtime/executable.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/run.hpp"
#include "runtime/statement_key.hpp"
#include "runtime/tuning_database.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// A statement of one structure that has been compiled for this many different sizes takes kernels with extents as
/// arguments for another one, until that one comes again.
constexpr int most_sizes = 16;

bool needs_compiling(const plan& p, backend& b) {
    for (const auto& request : executable::requests(p, b.machine()))
        for (const auto* kernel : kernels_of(request))
            if (find_kernel(b, kernel->source, kernel->entry) == cache_hit::miss) return true;
    return false;
}

} // namespace

plan lower_for(const statement& s, backend& b, std::vector<stage>* trace, occasion when) {
    std::shared_ptr<const tuning_table> measured, shipped;
    if (chosen_tuning() != tuning::off) {
        auto& database = tuning_database_of(b.machine());
        measured = database.measured(), shipped = database.shipped();
    }
    auto p = lower(s, b.machine(), {measured.get(), shipped.get()}, false, trace);
    if (when == occasion::next_runs || !needs_compiling(p, b)) return p;
    key_words shapeless;
    write_shapeless_key(s, shapeless);
    {
        static std::mutex mutex;
        static auto& compiled_sizes = *new std::unordered_map<key_words, int, key_hash>;
        const std::lock_guard lock(mutex);
        auto& sizes = compiled_sizes[shapeless];
        if (sizes < most_sizes) {
            if (when == occasion::first_run) ++sizes;
            return p;
        }
    }
    if (trace != nullptr) trace->clear();
    return lower(s, b.machine(), {}, true, trace);
}

bool is_general(const plan& p) {
    return std::any_of(p.steps.begin(), p.steps.end(), [](const step& st) { return st.dynamic_extents; });
}

} // namespace ricci::runtime
