// content_versions: whether memory that only ricci writes still holds what it did.
#include "runtime/content_versions.hpp"

#include "runtime/inverse_cache.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace ricci::runtime {
namespace {

using place = std::pair<std::int32_t, const void*>; // a device's code, an address

struct versions {
    std::shared_mutex mutex;
    std::map<place, std::uint64_t> all;
    std::atomic<std::size_t> count = 0;
    std::atomic<std::uint64_t> next = 1;
};

versions& state() {
    static auto& only = *new versions; // never destroyed: tensors may be released by static destructors
    return only;
}

} // namespace

void track_contents(device d, const void* memory) {
    if (memory == nullptr) return;
    auto& v = state();
    const std::lock_guard lock(v.mutex);
    v.all[{d.code(), memory}] = v.next++;
    v.count = v.all.size();
}

void contents_written(device d, const void* memory) {
    auto& v = state();
    const std::lock_guard lock(v.mutex);
    if (const auto found = v.all.find({d.code(), memory}); found != v.all.end()) found->second = v.next++;
}

void contents_exposed(device d, const void* memory) {
    auto& v = state();
    const std::lock_guard lock(v.mutex);
    v.all.erase({d.code(), memory});
    v.count = v.all.size();
}

std::uint64_t content_version(device d, const void* memory) {
    auto& v = state();
    if (v.count == 0) return 0;
    const std::shared_lock lock(v.mutex);
    const auto found = v.all.find({d.code(), memory});
    return found == v.all.end() ? 0 : found->second;
}

void forget_contents(device d, const void* memory) noexcept {
    auto& v = state();
    if (v.count == 0) return;
    {
        const std::lock_guard lock(v.mutex);
        if (v.all.erase({d.code(), memory}) == 0) return;
        v.count = v.all.size();
    }
    forget_inverses(d, memory);
}

} // namespace ricci::runtime
