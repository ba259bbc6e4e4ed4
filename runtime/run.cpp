// run: the way of a statement from the front door to its launch.
#include "runtime/run.hpp"

#include "lowering/refuse.hpp"
#include "runtime/backend.hpp"
#include "runtime/executable.hpp"
#include "runtime/lower_for.hpp"
#include "runtime/statement_key.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;

using executable_map = std::unordered_map<key_words, std::shared_ptr<const executable>, key_hash>;

/// Beyond this many structures a map starts anew: their kernels stay cached, only lowering is done again.
constexpr std::size_t most_executables = 16384;

/// What all threads share; locked only where a thread meets a structure for the first time.
struct shared_state {
    std::mutex mutex;
    executable_map executables;
};

shared_state& shared() {
    static auto& state = *new shared_state; // never destroyed: threads may outlive static destructors
    return state;
}

std::shared_ptr<const executable> prepare(const statement& s, const key_words& key) {
    auto& state = shared();
    {
        const std::lock_guard lock(state.mutex);
        if (const auto found = state.executables.find(key); found != state.executables.end()) return found->second;
    }
    const device d(s.accesses[0].device);
    auto made = std::make_shared<const executable>(d, lower_for(s, backend_of(d), nullptr, true));
    const std::lock_guard lock(state.mutex);
    if (state.executables.size() >= most_executables) state.executables.clear();
    return state.executables.try_emplace(key, std::move(made)).first->second;
}

/// The prepared form of `s`: one lookup in this thread's own map when warm.
const executable& find_executable(const statement& s) {
    static thread_local key_words key;
    static thread_local executable_map mine;
    write_key(s, key);
    if (const auto found = mine.find(key); found != mine.end()) return *found->second;
    auto made = prepare(s, key);
    if (mine.size() >= most_executables) mine.clear();
    return *mine.try_emplace(key, std::move(made)).first->second;
}

thread_local collector* current_collector = nullptr;

void refuse_locals(const statement& s) {
    for (const auto& a : s.accesses)
        if (a.local != no_local) refuse(s, "a ricci::local has memory only within a program: use it in ricci::record");
}

void refuse_second_range(const statement& s) {
    const auto& second = s.second_ranges.front();
    for (const auto& first : s.labels)
        if (first.name == second.name)
            refuse(s, "index {} has two ranges in one statement: ({}, {}) and ({}, {})", first.name, first.begin, first.end, second.begin,
                   second.end);
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
            if (s.positions[static_cast<std::size_t>(a.first_position + p)].extent == 0) bytes = 0;
        for (int p = 0; p < a.position_count; ++p)
            if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(s.positions[static_cast<std::size_t>(a.first_position + p)].extent), &bytes))
                throw error("the size of a ricci::local does not fit 64 bits");
        const device d(a.device);
        pieces_.emplace(a.local, piece(allocate(d, bytes, true), release_on{d}));
    }

    std::unordered_map<std::int32_t, piece> pieces_;
};

} // namespace

void run(const statement& s) {
    if (s.accesses.empty() || s.nodes.empty()) throw error("a statement needs a left and a right side");
    if (!s.second_ranges.empty()) refuse_second_range(s);
    if (current_collector != nullptr) return (*current_collector)(s);
    for (const auto& a : s.accesses)
        if (a.local != no_local) refuse_locals(s);
    find_executable(s).launch(s);
}

void run_program(const std::vector<statement>& statements) {
    const local_memory locals(statements);
    std::vector<statement> resolved;
    std::vector<std::shared_ptr<const executable>> prepared;
    for (const auto& s : statements) {
        resolved.push_back(locals.resolved(s));
        key_words key;
        write_key(resolved.back(), key);
        prepared.push_back(prepare(resolved.back(), key)); // all of them, before anything is written
    }
    for (std::size_t n = 0; n < prepared.size(); ++n) prepared[n]->launch(resolved[n]);
}

collecting::collecting(collector take) : take_(std::move(take)), outer_(current_collector) { current_collector = &take_; }
collecting::~collecting() { current_collector = outer_; }

bool is_collecting() { return current_collector != nullptr; }

std::int32_t new_local() {
    static std::atomic<std::int32_t> next = 0;
    return next++;
}

} // namespace ricci::runtime
