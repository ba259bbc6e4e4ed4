// table_fingerprint: a number that changes with a table's entries.
#include "runtime/table_fingerprint.hpp"

#include "runtime/kernel_cache.hpp"
#include "runtime/prelude.hpp"
#include "runtime/table_entries.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;

__extension__ typedef unsigned __int128 wide;

constexpr std::uint64_t key_step = 0x9e3779b97f4a7c15u;
constexpr std::uint64_t key_of(std::uint64_t number) { return (number + 1) * key_step; }

/// One of an entry and its number's key; summed over all, in any order. (A product folded, as in wyhash: a
/// multiplication of 64 bits is what an entry costs.)
std::uint64_t mixed(std::uint64_t entry, std::uint64_t key) {
    const auto product = static_cast<wide>(entry ^ 0xa0761d6478bd642fu) * (key | 1);
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

/// A table's own axes: those of the shape along which it has several entries.
struct own_axes {
    std::array<std::int64_t, max_labels> extent{}, stride{};
    std::size_t count = 0;
    std::int64_t entries = 1;

    own_axes(const scatter_shape& shape, const scatter_table& table) {
        for (std::size_t a = 0; a < shape.axes.size(); ++a) {
            if (table.stride[a] == 0 || shape.extent[a] == 1) continue;
            extent[count] = shape.extent[a], stride[count] = table.stride[a];
            entries *= extent[count++];
        }
    }
};

/// Of entries [begin, end).
template <class Entry>
std::uint64_t sum_of(const own_axes& own, const Entry* first, std::int64_t begin, std::int64_t end) {
    std::uint64_t sum = 0;
    const auto length = own.count > 0 ? own.extent[0] : 1, stride = own.count > 0 ? own.stride[0] : 0;
    for (auto n = begin; n < end;) {
        auto rest = n / length;
        const auto here = n % length, count = std::min(length - here, end - n);
        const auto* line = first + here * stride;
        for (std::size_t a = 1; a < own.count; ++a)
            line += rest % own.extent[a] * own.stride[a], rest /= own.extent[a];
        auto key = key_of(static_cast<std::uint64_t>(n));
        for (std::int64_t i = 0; i < count; ++i, line += stride, key += key_step)
            sum += mixed(static_cast<std::uint64_t>(*line), key);
        n += count;
    }
    return sum;
}

std::uint64_t on_host(const own_axes& own, scalar_type type, const void* first, backend& b) {
    struct work {
        const own_axes& own;
        const void* first;
        bool is_narrow;
        std::atomic<std::uint64_t> sum = 0;
    } all{own, first, type == scalar_type::i32};
    constexpr std::int64_t piece = 1 << 15;
    constexpr double seconds_an_entry = 1e-9;
    const auto run = [](const void* context, std::int64_t slice) {
        auto& here = *static_cast<work*>(const_cast<void*>(context));
        const auto begin = slice * piece, end = std::min(begin + piece, here.own.entries);
        here.sum += here.is_narrow ? sum_of(here.own, static_cast<const std::int32_t*>(here.first), begin, end)
                                   : sum_of(here.own, static_cast<const std::int64_t*>(here.first), begin, end);
    };
    b.run_slices((own.entries + piece - 1) / piece, {run, &all, piece * seconds_an_entry});
    return all.sum;
}

/// Of kernels/table_fingerprint.cuh.
constexpr std::int64_t threads = 256, entries_of_block = 16 * threads;

/// The kernel for tables of one type and rank, loaded once.
kernel_handle kernel_of(backend& b, scalar_type type, std::size_t axes) {
    static std::mutex mutex;
    static auto& loaded = *new std::map<std::tuple<backend*, scalar_type, std::size_t>, kernel_handle>;
    const std::lock_guard lock(mutex);
    auto& kernel = loaded[{&b, type, axes}];
    if (kernel == nullptr) {
        const auto launch = fingerprint_kernel(type, axes);
        kernel = cached_kernel(b, launch.source, launch.entry);
    }
    return kernel;
}

std::uint64_t on_gpu(const own_axes& own, scalar_type type, const void* first, backend& b) {
    auto* const kernel = kernel_of(b, type, own.count);
    std::uint64_t sum = 0;
    const auto release = [&](void* memory) { b.release(memory); };
    const std::unique_ptr<void, decltype(release)> place(b.allocate_zeroed(sizeof sum), release);
    static thread_local std::vector<std::uint64_t> words;
    words = {reinterpret_cast<std::uintptr_t>(first), reinterpret_cast<std::uintptr_t>(place.get()),
             static_cast<std::uint64_t>(own.entries)};
    for (const auto& of : {own.extent, own.stride})
        for (std::size_t a = 0; a < std::max<std::size_t>(own.count, 1); ++a)
            words.push_back(static_cast<std::uint64_t>(of[a]));
    launch_shape shape;
    shape.grid = (own.entries + entries_of_block - 1) / entries_of_block, shape.threads = threads;
    shape.starts_early = true;
    b.launch(kernel, shape, words);
    b.copy_out(&sum, place.get(), sizeof sum);
    return sum;
}

} // namespace

kernel_launch fingerprint_kernel(scalar_type type, std::size_t axes) {
    prelude text;
    text.constant("axis_count", static_cast<std::int64_t>(axes));
    text.constant("entry_type", static_cast<std::int64_t>(type));
    kernel_launch out;
    out.source = complete_source(text.text(), "table_fingerprint.cuh");
    out.entry = "ricci_table_fingerprint";
    out.shape.threads = threads;
    out.shape.starts_early = true;
    return out;
}

std::uint64_t table_fingerprint(const scatter_shape& shape, const scatter_table& table, const statement& s,
                                backend& b) {
    const own_axes own(shape, table);
    const auto compute = b.machine().kind == target::cpu ? on_host : on_gpu;
    return compute(own, table.type, first_entry(table, s), b);
}

} // namespace ricci::runtime
