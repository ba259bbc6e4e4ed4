// table_fingerprint: a number that changes with a table's entries.
#include "runtime/table_fingerprint.hpp"

#include "runtime/table_entries.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// One of an entry and its number; summed over all, in any order. (The finalizer of SplitMix64.)
std::uint64_t mixed(std::uint64_t entry, std::uint64_t number) {
    auto z = entry + (number + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
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
        for (std::size_t a = 1; a < own.count; ++a) line += rest % own.extent[a] * own.stride[a], rest /= own.extent[a];
        for (std::int64_t i = 0; i < count; ++i)
            sum += mixed(static_cast<std::uint64_t>(line[i * stride]), static_cast<std::uint64_t>(n + i));
        n += count;
    }
    return sum;
}

} // namespace

std::uint64_t table_fingerprint(const scatter_shape& shape, const scatter_table& table, const statement& s, device d,
                                backend& b) {
    const table_entries entries(shape, table, s, d, b);
    const own_axes own(shape, table);
    struct work {
        const own_axes& own;
        const void* first;
        bool is_narrow;
        std::atomic<std::uint64_t> sum = 0;
    } all{own, entries.first(), table.type == scalar_type::i32};
    constexpr std::int64_t piece = 1 << 15;
    constexpr double seconds_an_entry = 1e-9;
    const auto run = [](const void* context, std::int64_t slice) {
        auto& here = *static_cast<work*>(const_cast<void*>(context));
        const auto begin = slice * piece, end = std::min(begin + piece, here.own.entries);
        here.sum += here.is_narrow ? sum_of(here.own, static_cast<const std::int32_t*>(here.first), begin, end)
                                   : sum_of(here.own, static_cast<const std::int64_t*>(here.first), begin, end);
    };
    const backend::slice_work pieces{run, &all, piece * seconds_an_entry};
    const auto count = (own.entries + piece - 1) / piece;
    if (d.is_cpu()) b.run_slices(count, pieces);
    else b.backend::run_slices(count, pieces);
    return all.sum;
}

} // namespace ricci::runtime
