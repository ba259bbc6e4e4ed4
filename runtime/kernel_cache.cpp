// kernel_cache: compiled kernels, in memory and on disk, found by the SHA-256 of all that shaped them.
#include "runtime/kernel_cache.hpp"

#include "lowering/error.hpp"
#include "runtime/cache_disk.hpp"
#include "runtime/cache_folder.hpp"
#include "runtime/sha256.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace ricci::runtime {

namespace {

/// One key. Its mutex is held while it is compiled: who asks for the same waits, who asks for another does not.
struct slot {
    std::mutex mutex;
    std::vector<std::pair<backend*, kernel_handle>> loaded;
};

std::atomic<std::int64_t> compiled = 0;

slot& slot_of(const std::string& key) {
    static std::mutex mutex;
    static auto& slots = *new std::unordered_map<std::string, slot>; // kernels live as long as the process
    const std::lock_guard lock(mutex);
    return slots[key]; // the map moves no slot
}

std::string key_of(backend& b, const std::string& source, const std::string& entry) {
    return sha256({source, b.jit().options(), b.jit().identity(), entry});
}

kernel_handle loaded_on(const slot& s, const backend& b) {
    const auto found =
        std::find_if(s.loaded.begin(), s.loaded.end(), [&](const auto& pair) { return pair.first == &b; });
    return found != s.loaded.end() ? found->second : nullptr;
}

kernel_handle load_from_disk(backend& b, const std::string& key, const std::string& entry) {
    const auto record = read_cached(key);
    if (!record) return nullptr;
    try {
        return b.load(record->code, entry);
    } catch (const error&) {
        // Whole, yet not loadable here and now: made against another C library, or the machine is short of something.
        // It stays until a compiled one replaces it.
        return nullptr;
    }
}

} // namespace

kernel_handle cached_kernel(backend& b, const std::string& source, const std::string& entry) {
    const std::string key = key_of(b, source, entry);
    slot& s = slot_of(key);
    const std::lock_guard lock(s.mutex);
    if (const kernel_handle kernel = loaded_on(s, b)) return kernel;
    const bool on_disk = cache_capacity() > 0;
    kernel_handle kernel = on_disk ? load_from_disk(b, key, entry) : nullptr;
    if (!kernel) {
        const std::string code = b.jit().compile(source);
        ++compiled;
        kernel = b.load(code, entry); // before it is stored: what cannot be loaded is not kept
        if (on_disk) write_cached({key, entry, b.jit().options(), code});
    }
    s.loaded.emplace_back(&b, kernel);
    return kernel;
}

cache_hit find_kernel(backend& b, const std::string& source, const std::string& entry) {
    const std::string key = key_of(b, source, entry);
    slot& s = slot_of(key);
    const std::lock_guard lock(s.mutex);
    if (loaded_on(s, b)) return cache_hit::memory;
    return cache_capacity() > 0 && read_cached(key) ? cache_hit::disk : cache_hit::miss;
}

std::int64_t compile_count() { return compiled; }

} // namespace ricci::runtime
