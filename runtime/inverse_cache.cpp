// inverse_cache: the inverses of tables, built once and kept as long as the tables hold what they did.
#include "runtime/inverse_cache.hpp"

#include "lowering/refuse.hpp"
#include "runtime/content_versions.hpp"
#include "runtime/table_check.hpp"
#include "runtime/table_entries.hpp"
#include "runtime/table_fingerprint.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// Of tables that nobody says the end of, so many are kept: those used last.
constexpr std::size_t most_untracked = 64;

struct slot {
    std::uint64_t stamp = 0; ///< of the tables' contents
    bool is_tracked = false;
    std::shared_ptr<const table_inverse> inverse;
    std::vector<std::pair<std::int32_t, const void*>> tables; ///< their devices and memory
    backend* owner = nullptr;
    std::atomic<std::uint64_t> last_used = 0;
    std::atomic<void*> stream = nullptr;
    std::atomic<bool> on_several_streams = false;
    std::atomic<bool> captured = false; ///< a CUDA graph reads it
};

struct inverses {
    std::shared_mutex mutex;
    std::unordered_map<key_words, slot, key_hash> all;
    std::vector<std::shared_ptr<const table_inverse>> captured; ///< graphs may be launched at any time later
    std::atomic<std::uint64_t> clock = 0;
    std::atomic<std::int64_t> built = 0;
};

inverses& state() {
    static auto& only = *new inverses; // never destroyed: tensors may be released by static destructors
    return only;
}

void mark_used(slot& it, const backend& b) {
    it.last_used = ++state().clock;
    if (it.stream != b.stream()) it.on_several_streams = true;
    if (b.capturing()) it.captured = true;
}

/// What the tables hold: their versions, or the fingerprints of those that have none.
std::uint64_t stamp_of(const scatter_use& use, const statement& s, device d, backend& b, bool& is_tracked) {
    std::uint64_t stamp = 0;
    is_tracked = true;
    for (const auto& t : use.shape.tables) {
        auto here = content_version(d, s.accesses[static_cast<std::size_t>(t.source)].data);
        if (here == 0) is_tracked = false, here = b.capturing() ? 0 : table_fingerprint(use.shape, t, s, b);
        stamp = (stamp ^ (stamp >> 29)) * 0x9e3779b97f4a7c15u + here;
    }
    return stamp;
}

/// Out of the map; what a graph reads stays in memory.
void drop(inverses& kept, std::unordered_map<key_words, slot, key_hash>::iterator it) {
    if (it->second.captured) kept.captured.push_back(std::move(it->second.inverse));
    kept.all.erase(it);
}

/// The one unused for longest goes, unless work of a stream that is not this thread's may still read it.
void make_room(inverses& kept, const backend& b) {
    auto oldest = kept.all.end();
    std::size_t count = 0;
    for (auto it = kept.all.begin(); it != kept.all.end(); ++it) {
        if (it->second.is_tracked) continue;
        ++count;
        if (it->second.owner != &b || it->second.on_several_streams || it->second.stream != b.stream()) continue;
        if (oldest == kept.all.end() || it->second.last_used < oldest->second.last_used) oldest = it;
    }
    if (count >= most_untracked && oldest != kept.all.end()) drop(kept, oldest);
}

} // namespace

void scatter_use::write_structure() {
    const auto add = [&](std::int64_t word) { structure.push_back(static_cast<std::uint64_t>(word)); };
    for (const auto word : {shape.contributions, shape.lowest, shape.unit, shape.keys}) add(word);
    for (std::size_t a = 0; a < shape.axes.size(); ++a) add(shape.extent[a]), add(shape.stride[a]);
    for (const auto& t : shape.tables) {
        add(static_cast<std::int64_t>(t.type)), add(t.factor);
        for (const auto stride : t.stride) add(stride);
    }
}

std::shared_ptr<const table_inverse> inverse_of(const scatter_use& use, const statement& s, device d, backend& b) {
    static thread_local key_words key;
    key = use.structure;
    key.push_back(static_cast<std::uint64_t>(d.code()));
    for (const auto& t : use.shape.tables) key.push_back(reinterpret_cast<std::uintptr_t>(first_entry(t, s)));

    auto& kept = state();
    bool is_tracked = false;
    const auto stamp = stamp_of(use, s, d, b, is_tracked);
    {
        const std::shared_lock lock(kept.mutex);
        if (const auto found = kept.all.find(key); found != kept.all.end()) {
            auto& it = found->second;
            if (it.stamp == stamp || (b.capturing() && !is_tracked)) {
                mark_used(it, b);
                return it.inverse;
            }
        }
    }
    if (b.capturing())
        refuse(s,
               "what adds through {} is captured into a CUDA graph, but its inverse is not built yet, or it has "
               "changed since: run the statement once before",
               operand_names(s)[static_cast<std::size_t>(use.shape.tables.front().source)]);
    check_tables(use.checks, s, {}, d, b);
    auto made = std::make_shared<const table_inverse>(use.shape, s, d, b);
    ++kept.built;
    const std::lock_guard lock(kept.mutex);
    if (const auto found = kept.all.find(key); found != kept.all.end()) drop(kept, found);
    if (!is_tracked) make_room(kept, b);
    auto& it = kept.all[key];
    it.stamp = stamp, it.is_tracked = is_tracked, it.inverse = made, it.owner = &b, it.stream = b.stream();
    for (const auto& t : use.shape.tables)
        it.tables.emplace_back(d.code(), s.accesses[static_cast<std::size_t>(t.source)].data);
    mark_used(it, b);
    return made;
}

void forget_inverses(device d, const void* memory) noexcept {
    auto& kept = state();
    const std::lock_guard lock(kept.mutex);
    for (auto it = kept.all.begin(); it != kept.all.end();) {
        const auto here = it++;
        const auto& tables = here->second.tables;
        if (std::find(tables.begin(), tables.end(), std::pair(d.code(), memory)) != tables.end()) drop(kept, here);
    }
}

std::int64_t inverses_built() { return state().built; }

} // namespace ricci::runtime
