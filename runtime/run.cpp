// run: the way of a statement from the front door to its launch.
#include "runtime/run.hpp"

#include "lowering/refuse.hpp"
#include "runtime/backend.hpp"
#include "runtime/executable.hpp"
#include "runtime/first_use.hpp"
#include "runtime/host_threads.hpp"
#include "runtime/lower_for.hpp"
#include "runtime/program_cache.hpp"
#include "runtime/statement_key.hpp"
#include "runtime/table_check.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// What a later run may find better.
enum class lack {
    nothing,
    kernels,     ///< of its own sizes, which are compiled when they come again
    measurements ///< first used while its stream was captured, where nothing can be measured
};
struct prepared {
    std::shared_ptr<const executable> code;
    lack lacks = lack::nothing;
};
using prepared_map = std::unordered_map<key_words, prepared, key_hash>;

/// Beyond this many structures a map starts anew: their kernels stay cached, only lowering is done again.
constexpr std::size_t most_executables = 16384;

/// What all threads share; locked only where a thread meets a structure for the first time.
struct shared_state {
    std::mutex mutex;
    prepared_map executables;
    int generation = 0; ///< of what stands in `executables`
};

shared_state& shared() {
    static auto& state = *new shared_state; // never destroyed: threads may outlive static destructors
    return state;
}

std::atomic<tuning> tuning_choice{tuning::cached};
/// Counts the changes of tuning_choice: what was prepared before one is not used after it.
std::atomic<int> tuning_generation{0};

prepared make_prepared(const statement& s, occasion when) {
    const device d(s.accesses[0].device);
    auto& b = backend_of(d);
    auto p = lower_for(s, b, nullptr, when);
    prepared out;
    if (is_general(p)) {
        out.lacks = lack::kernels;
    } else if (tuning_choice == tuning::on_first_use) {
        if (b.capturing())
            out.lacks = lack::measurements;
        else if (tune_steps(b, s, p))
            p = lower_for(s, b, nullptr, occasion::next_runs);
    }
    out.code = std::make_shared<const executable>(d, std::move(p));
    return out;
}

prepared find_prepared(const statement& s, const key_words& key, occasion when) {
    auto& state = shared();
    const int generation = tuning_generation;
    const auto is_ready = [&](const prepared& p) {
        return p.lacks == lack::nothing || backend_of(device(s.accesses[0].device)).capturing();
    };
    {
        const std::lock_guard lock(state.mutex);
        if (state.generation != generation) state.executables.clear(), state.generation = generation;
        if (const auto found = state.executables.find(key); found != state.executables.end()) {
            if (is_ready(found->second)) return found->second;
            if (found->second.lacks == lack::kernels) when = occasion::next_runs;
        }
    }
    auto made = make_prepared(s, when);
    const std::lock_guard lock(state.mutex);
    if (state.generation != generation) return made;
    if (state.executables.size() >= most_executables) state.executables.clear();
    auto& kept = state.executables.try_emplace(key, made).first->second;
    if (made.lacks == lack::nothing) kept = made;
    return kept;
}

/// The prepared form of `s`: one lookup in this thread's own map when warm.
const executable& find_executable(const statement& s) {
    static thread_local key_words key;
    static thread_local prepared_map mine;
    static thread_local int generation = 0;
    if (const int now = tuning_generation.load(std::memory_order_acquire); now != generation) [[unlikely]]
        mine.clear(), generation = now;
    write_key(s, key);
    if (const auto found = mine.find(key); found != mine.end() && found->second.lacks == lack::nothing)
        return *found->second.code;
    auto made = find_prepared(s, key, occasion::first_run);
    if (mine.size() >= most_executables) mine.clear();
    return *mine.insert_or_assign(key, std::move(made)).first->second.code;
}

thread_local collector* current_collector = nullptr;

void refuse_locals(const statement& s) {
    for (const auto& a : s.accesses)
        if (a.local != no_local)
            refuse(s, "a ricci::local has memory only within a program: use it in ricci::record");
}

void refuse_second_range(const statement& s) {
    const auto& second = s.second_ranges.front();
    for (const auto& first : s.labels)
        if (first.name == second.name)
            refuse(s, "index {} has two ranges in one statement: ({}, {}) and ({}, {})", first.name, first.begin,
                   first.end, second.begin, second.end);
}

/// Memory for the locals of a program, one piece each, zeroed.
class local_memory {
  public:
    explicit local_memory(const std::vector<statement>& statements) {
        for (const auto& s : statements)
            for (const auto& a : s.accesses)
                if (a.local != no_local) reserve(s, a);
    }
    statement resolved(statement s) const {
        for (auto& a : s.accesses)
            if (a.local != no_local) a.data = pieces_.at(a.local).get(), a.local = no_local;
        return s;
    }

  private:
    struct release_on {
        device where;
        void operator()(void* memory) const { release(where, memory); }
    };
    using piece = std::unique_ptr<void, release_on>;

    void reserve(const statement& s, const access& a) {
        if (pieces_.contains(a.local)) return;
        std::size_t bytes = static_cast<std::size_t>(size_of(a.type));
        for (int p = 0; p < a.position_count; ++p)
            if (position_of(s, a, p).extent == 0) bytes = 0;
        for (int p = 0; p < a.position_count; ++p)
            if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(position_of(s, a, p).extent), &bytes))
                throw error("the size of a ricci::local does not fit 64 bits");
        const device d(a.device);
        pieces_.emplace(a.local, piece(allocate(d, bytes, true), release_on{d}));
    }

    std::unordered_map<std::int32_t, piece> pieces_;
};

} // namespace

void choose_tuning(tuning choice) {
    if (tuning_choice.exchange(choice) == choice) return;
    ++tuning_generation;
    forget_programs();
}

tuning chosen_tuning() noexcept { return tuning_choice; }

void run(const statement& s) {
    if (s.accesses.empty() || (s.nodes.empty() && !s.is_call()))
        throw error("a statement needs a left and a right side");
    if (!s.second_ranges.empty()) refuse_second_range(s);
    if (current_collector != nullptr) return (*current_collector)(s);
    for (const auto& a : s.accesses)
        if (a.local != no_local) refuse_locals(s);
    find_executable(s).launch(s);
}

void prepare(const statement& s) {
    key_words key;
    write_key(s, key);
    find_prepared(s, key, occasion::next_runs);
}

void prepare(const std::vector<statement>& statements) {
    if (placed_program program; program.take(statements) && find_fused(program)) return;
    const local_memory locals(statements);
    std::vector<std::exception_ptr> problems(statements.size());
    // Kernels that are measured on first use would be measured against the compilers of the others.
    const int threads = tuning_choice == tuning::on_first_use ? 1 : 0;
    on_host_threads(statements.size(), threads, [&](std::size_t n) {
        try {
            prepare(locals.resolved(statements[n]));
        } catch (...) {
            problems[n] = std::current_exception();
        }
    });
    for (const auto& problem : problems)
        if (problem) std::rethrow_exception(problem);
}

bool fuses_something(const std::vector<statement>& statements) {
    placed_program program;
    try {
        if (!program.take(statements)) return false;
        const auto& chip = backend_of(device(statements[0].accesses[0].device)).machine();
        return is_better_as_one(plan_of(program, nullptr), chip);
    } catch (const error&) {
        return false;
    }
}

void run_program(const std::vector<statement>& statements) {
    {
        static thread_local placed_program program;
        if (program.take(statements))
            if (const auto fused = find_fused(program)) return fused->launch(program.joined, program.statements);
    }
    const local_memory locals(statements);
    std::vector<statement> resolved;
    std::vector<std::shared_ptr<const executable>> all;
    for (const auto& s : statements) {
        resolved.push_back(locals.resolved(s));
        key_words key;
        write_key(resolved.back(), key);
        // all of them, before anything is written
        all.push_back(find_prepared(resolved.back(), key, occasion::first_run).code);
    }
    std::vector<std::optional<executable::inverses>> tables(all.size());
    for (std::size_t n = 0; n < all.size(); ++n)
        if (const auto before = std::span<const statement>(resolved).first(n);
            !adds_through_results(resolved[n], before))
            tables[n] = all[n]->check({&resolved[n], 1}, before);
    for (std::size_t n = 0; n < all.size(); ++n)
        if (tables[n])
            all[n]->launch(resolved[n], *tables[n]);
        else
            all[n]->launch(resolved[n]);
}

collecting::collecting(collector take) : take_(std::move(take)), outer_(current_collector) {
    current_collector = &take_;
}
collecting::~collecting() { current_collector = outer_; }

bool is_collecting() { return current_collector != nullptr; }

std::int32_t new_local() {
    static std::atomic<std::int32_t> next = 0;
    return next++;
}

} // namespace ricci::runtime
