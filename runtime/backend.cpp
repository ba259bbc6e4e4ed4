// backend: the backends of this process, one a device, each started on first use and never stopped.
#include "runtime/backend.hpp"

#include "lowering/error.hpp"

#include <array>
#include <atomic>
#include <fmt/format.h>
#include <mutex>

namespace ricci::runtime {

namespace {

constexpr std::int32_t lowest_code = -16; ///< of a backend that a test registers
constexpr std::int32_t highest_code = max_cuda_devices;

struct slot {
    std::atomic<backend*> started = nullptr; ///< never deleted: tensors may be released by static destructors
    std::mutex starting;
    std::function<std::unique_ptr<backend>()> make; ///< registered; guarded by starting
};

slot& slot_of(std::int32_t code) {
    static auto& slots = *new std::array<slot, highest_code - lowest_code + 1>;
    if (code < lowest_code || code > highest_code)
        throw error(fmt::format("device {}: codes run from {} to {}", code, lowest_code, highest_code));
    return slots[static_cast<std::size_t>(code - lowest_code)];
}

std::unique_ptr<backend> make_backend(device d, const slot& s) {
    if (d.is_cpu()) return make_cpu_backend();
    if (d.is_cuda()) return make_cuda_backend(d.code() - 1);
    if (!s.make) throw error(fmt::format("no backend was registered for device {}", d.name()));
    return s.make();
}

} // namespace

backend& backend_of(device d) {
    slot& s = slot_of(d.code());
    if (backend* b = s.started.load(std::memory_order_acquire)) return *b;
    const std::lock_guard lock(s.starting);
    if (backend* b = s.started.load(std::memory_order_relaxed)) return *b;
    backend* b = make_backend(d, s).release();
    s.started.store(b, std::memory_order_release);
    return *b;
}

void register_backend(std::int32_t code, std::function<std::unique_ptr<backend>()> make) {
    if (code >= 0) throw error(fmt::format("a registered backend has a negative code, not {}", code));
    slot& s = slot_of(code);
    const std::lock_guard lock(s.starting);
    if (s.started.load(std::memory_order_relaxed))
        throw error(fmt::format("the backend of device {} has been started already", code));
    s.make = std::move(make);
}

std::vector<backend*> started_backends() {
    std::vector<backend*> all;
    for (std::int32_t code = lowest_code; code <= highest_code; ++code)
        if (backend* b = slot_of(code).started.load(std::memory_order_acquire)) all.push_back(b);
    return all;
}

} // namespace ricci::runtime
