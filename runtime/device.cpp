// device: names of devices, the default one, and memory and streams by way of its backend.
#include "runtime/device.hpp"

#include "lowering/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/content_versions.hpp"
#include "runtime/environment.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <vector>

namespace ricci {

namespace {

std::optional<device> device_named(std::string_view name) {
    if (name == "cpu") return cpu();
    if (name == "cuda") return cuda(0);
    constexpr std::string_view prefix = "cuda:";
    if (!name.starts_with(prefix)) return std::nullopt;
    name.remove_prefix(prefix.size());
    int ordinal = 0;
    const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), ordinal);
    const bool whole = failure == std::errc() && end == name.data() + name.size();
    if (!whole || ordinal < 0 || ordinal >= runtime::max_cuda_devices) return std::nullopt;
    return cuda(ordinal);
}

} // namespace

std::string device::name() const {
    if (is_cpu()) return "cpu";
    return is_cuda() ? fmt::format("cuda:{}", code_ - 1) : fmt::format("backend:{}", code_);
}

device default_device() {
    static const device chosen = [] {
        if (const char* name = runtime::variable("RICCI_DEVICE")) {
            if (const auto named = device_named(name)) return *named;
            throw error(fmt::format("RICCI_DEVICE is \"{}\": expected cpu, cuda or cuda:N with N below {}", name,
                                    runtime::max_cuda_devices),
                        blame::environment);
        }
        return runtime::cuda_device_count() > 0 ? cuda(0) : cpu();
    }();
    return chosen;
}

device parse_device(const std::string& name) {
    if (const auto named = device_named(name)) return *named;
    throw error(fmt::format("no device is named \"{}\": expected cpu, cuda or cuda:N with N below {}", name,
                            runtime::max_cuda_devices));
}

void set_stream(device d, void* stream) { runtime::backend_of(d).set_stream(stream); }

void* current_stream(device d) { return runtime::backend_of(d).stream(); }

void synchronize(device d) { runtime::backend_of(d).synchronize(); }

void synchronize() {
    for (runtime::backend* b : runtime::started_backends()) b->synchronize();
}

namespace runtime {

void refuse_ordinal(int ordinal) {
    throw error(fmt::format("there is no GPU with the number {}: they count from 0", ordinal));
}

void* allocate(device d, std::size_t bytes, bool zeroed) {
    if (bytes == 0) return nullptr;
    backend& b = backend_of(d);
    return zeroed ? b.allocate_zeroed(bytes) : b.allocate(bytes);
}

namespace {
thread_local kept_memory* keeper = nullptr;
} // namespace

void release(device d, void* memory) noexcept {
    if (memory == nullptr) return;
    if (keeper != nullptr) return keeper->pieces_.push_back({d, memory});
    forget_contents(d, memory);
    backend_of(d).release(memory); // the backend that allocated it has been started
}

kept_memory::kept_memory() : outer_(keeper) { keeper = this; }

kept_memory::~kept_memory() {
    keeper = outer_;
    for (const auto& p : pieces_) release(p.where, p.memory);
}

void copy(device to, void* target, device from, const void* source, std::size_t bytes) {
    if (bytes == 0) return;
    if (to == from) return backend_of(to).copy_within(target, source, bytes);
    if (from.is_cpu()) return backend_of(to).copy_in(target, source, bytes);
    if (to.is_cpu()) return backend_of(from).copy_out(target, source, bytes);
    // Two GPUs: by way of the host, which needs neither peer access nor a common memory pool.
    std::vector<std::byte> piece(std::min(bytes, std::size_t{32} << 20));
    for (std::size_t done = 0; done < bytes; done += piece.size()) {
        const std::size_t size = std::min(piece.size(), bytes - done);
        backend_of(from).copy_out(piece.data(), static_cast<const std::byte*>(source) + done, size);
        backend_of(to).copy_in(static_cast<std::byte*>(target) + done, piece.data(), size);
    }
}

} // namespace runtime
} // namespace ricci
