// program_cache: programs whose statements are fused, prepared once for each structure.
#include "runtime/program_cache.hpp"

#include "lowering/find_winograd.hpp"
#include "runtime/backend.hpp"
#include "runtime/first_use.hpp"
#include "runtime/run.hpp"
#include "runtime/statement_key.hpp"
#include "runtime/table_check.hpp"
#include "runtime/tuning_database.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <unordered_map>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// Beyond this many structures the map starts anew: kernels stay cached, only lowering is done again.
constexpr std::size_t most_programs = 4096;

/// Null code: nothing is fused. What was prepared while a stream was captured lacks measurements that it is to have.
struct kept_program {
    std::shared_ptr<const executable> code;
    bool lacks_measurements = false;
};
using program_map = std::unordered_map<key_words, kept_program, key_hash>;

/// What all threads share; locked only where a thread meets a program for the first time.
struct shared_state {
    std::mutex mutex;
    program_map programs;
};
shared_state& shared() {
    static auto& state = *new shared_state; // never destroyed: threads may outlive static destructors
    return state;
}
/// Counts how often programs were forgotten: what threads keep from before is not used after it.
std::atomic<int> generation{0};

device device_of(const placed_program& p) { return device(p.statements[0].accesses[0].device); }

kept_program make_fused(const placed_program& p) {
    auto& b = backend_of(device_of(p));
    if (!b.machine().has_compiler) return {};
    auto plan = plan_of(p, nullptr);
    if (!is_better_as_one(plan, b.machine()) || !executable::can_run(plan)) return {};
    kept_program out;
    if (chosen_tuning() == tuning::on_first_use) {
        if (b.capturing())
            out.lacks_measurements = true;
        else if (tune_steps(b, p.joined, plan))
            plan = plan_of(p, nullptr);
    }
    out.code = std::make_shared<const executable>(device_of(p), std::move(plan));
    return out;
}

bool is_ready(const kept_program& kept, const placed_program& p) {
    return !kept.lacks_measurements || backend_of(device_of(p)).capturing();
}

void write_program_key(const placed_program& p, key_words& key) {
    key.clear();
    for (const auto& s : p.statements) append_key(s, key);
    for (const auto& list : {&p.locals, &p.shared.same, &p.shared.memory})
        for (const auto x : *list) key.push_back(static_cast<std::uint64_t>(x));
}

/// What is set to 0 before that need not be.
bool adds_in_order(const statement& s) {
    const auto& left = s.accesses[0];
    const auto first = s.positions.begin() + left.first_position;
    return s.op != assignment::assign && std::any_of(first, first + left.position_count, [](const position& p) {
               return p.is_gathered() && !p.distinct && !p.atomic;
           });
}

} // namespace

bool placed_program::take(const std::vector<statement>& from) {
    if (from.size() < 2) return false;
    bool gains = false; // else statements hand each other nothing that need not be in memory
    for (std::size_t n = 0; n < from.size(); ++n) {
        const auto& s = from[n];
        if (adds_through_results(s, std::span(from).first(n))) return false; // one launch has all inverses before it
        gains = gains || adds_in_order(s);
        for (const auto& a : s.accesses) {
            if (a.device != from[0].accesses[0].device) return false;
            gains = gains || a.local != no_local;
        }
    }
    if (!gains) return false;
    statements = from;
    place_locals(statements, locals);
    find_shared_memory(statements, shared);
    join_statements(statements, joined);
    return true;
}

bool is_better_as_one(const plan& p, const machine& chip) {
    // On a CPU locals that stay in memory lie in a workspace then, which is not zeroed for what is written whole: new
    // pages of zeros at each run took 7 of the 29 ms of a convolution by F(4x4, 3x3), 64 channels of 224 x 224.
    const bool has_locals = chip.kind == target::cpu && std::ranges::any_of(p.temporaries, &temporary::is_local);
    return has_locals || !p.chains.empty() ||
           std::ranges::any_of(p.steps, [](const step& st) { return st.fill >= 0 || is_of_convolution(st); });
}

plan plan_of(const placed_program& p, std::vector<stage>* trace) {
    auto& b = backend_of(device(p.statements[0].accesses[0].device));
    std::shared_ptr<const tuning_table> measured, shipped;
    if (chosen_tuning() != tuning::off) {
        auto& database = tuning_database_of(b.machine());
        measured = database.measured(), shipped = database.shipped();
    }
    return lower_program(p.statements, p.locals, p.shared, b.machine(), {measured.get(), shipped.get()}, trace);
}

std::shared_ptr<const executable> find_fused(const placed_program& p) {
    static thread_local key_words key;
    static thread_local program_map mine;
    static thread_local int of_generation = 0;
    if (const int now = generation.load(std::memory_order_acquire); now != of_generation)
        mine.clear(), of_generation = now;
    write_program_key(p, key);
    if (const auto found = mine.find(key); found != mine.end() && is_ready(found->second, p))
        return found->second.code;
    auto& state = shared();
    kept_program made;
    bool is_known = false;
    {
        const std::lock_guard lock(state.mutex);
        if (const auto found = state.programs.find(key); found != state.programs.end() && is_ready(found->second, p))
            made = found->second, is_known = true;
    }
    if (!is_known) {
        made = make_fused(p); // compiles, while other threads go on
        const std::lock_guard lock(state.mutex);
        if (state.programs.size() >= most_programs) state.programs.clear();
        auto& kept = state.programs.try_emplace(key, made).first->second;
        if (kept.lacks_measurements) kept = made;
        made = kept;
    }
    if (mine.size() >= most_programs) mine.clear();
    mine.insert_or_assign(key, made);
    return made.code;
}

void forget_programs() {
    auto& state = shared();
    const std::lock_guard lock(state.mutex);
    state.programs.clear();
    ++generation;
}

} // namespace ricci::runtime
