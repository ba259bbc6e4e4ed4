// table_inverse: for each element of the output that tables name, the entries that name it.
#include "runtime/table_inverse.hpp"

#include "runtime/table_entries.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// Keys are counted where there are so many at most for each contribution, else sorted; and rows stand for keys, also
/// for those without contributions, where there are at most so many keys for each that has some.
constexpr std::int64_t most_keys_counted = 4, most_keys_a_row = 2;

/// Calls f(number, key) for every contribution, in order.
template <class F>
void for_each_key(const scatter_shape& shape, const std::vector<table_entries>& tables, F f) {
    const auto axes = shape.axes.size();
    std::vector<std::int64_t> x(axes, 0), at(tables.size(), 0);
    std::int64_t own = -shape.lowest;
    for (std::int64_t n = 0; n < shape.contributions; ++n) {
        auto offset = own;
        for (std::size_t t = 0; t < tables.size(); ++t) offset += shape.tables[t].factor * tables[t][at[t]];
        f(n, offset / shape.unit);
        for (std::size_t a = 0; a < axes; ++a) {
            const auto step = ++x[a] < shape.extent[a] ? 1 : 1 - std::exchange(x[a], 0);
            own += step * shape.stride[a];
            for (std::size_t t = 0; t < tables.size(); ++t) at[t] += step * shape.tables[t].stride[a];
            if (x[a] != 0) break;
        }
    }
}

/// The lists in the host's memory.
template <class Number>
struct rows_on_host {
    std::vector<Number> begins, entries;
    std::vector<std::int64_t> keys; ///< empty: each row's number
};

template <class Number>
rows_on_host<Number> counted(const scatter_shape& shape, const std::vector<table_entries>& tables) {
    rows_on_host<Number> out;
    std::vector<Number> begin_of(static_cast<std::size_t>(shape.keys) + 1, 0); // of each key
    for_each_key(shape, tables,
                 [&](std::int64_t, std::int64_t key) { ++begin_of[static_cast<std::size_t>(key) + 1]; });
    const auto named = static_cast<std::int64_t>(begin_of.size()) - std::count(begin_of.begin(), begin_of.end(), 0);
    for (std::size_t k = 1; k < begin_of.size(); ++k)
        begin_of[k] = static_cast<Number>(begin_of[k] + begin_of[k - 1]);
    if (shape.keys <= most_keys_a_row * named) {
        out.begins = begin_of;
    } else {
        out.begins.push_back(0);
        for (std::size_t k = 0; k + 1 < begin_of.size(); ++k)
            if (begin_of[k + 1] > begin_of[k])
                out.begins.push_back(begin_of[k + 1]), out.keys.push_back(static_cast<std::int64_t>(k));
    }
    out.entries.resize(static_cast<std::size_t>(shape.contributions));
    for_each_key(shape, tables, [&](std::int64_t n, std::int64_t key) {
        out.entries[static_cast<std::size_t>(begin_of[static_cast<std::size_t>(key)]++)] = static_cast<Number>(n);
    });
    return out;
}

template <class Number>
rows_on_host<Number> sorted(const scatter_shape& shape, const std::vector<table_entries>& tables) {
    rows_on_host<Number> out;
    std::vector<std::pair<std::int64_t, Number>> all;
    all.reserve(static_cast<std::size_t>(shape.contributions));
    for_each_key(shape, tables,
                 [&](std::int64_t n, std::int64_t key) { all.emplace_back(key, static_cast<Number>(n)); });
    std::sort(all.begin(), all.end());
    for (std::size_t n = 0; n < all.size(); ++n) {
        if (n == 0 || all[n].first != all[n - 1].first)
            out.begins.push_back(static_cast<Number>(n)), out.keys.push_back(all[n].first);
        out.entries.push_back(all[n].second);
    }
    out.begins.push_back(static_cast<Number>(all.size()));
    return out;
}

template <class Number>
rows_on_host<Number> rows_of(const scatter_shape& shape, const std::vector<table_entries>& tables) {
    constexpr std::int64_t few = 1024;
    const bool counts = shape.keys <= few || shape.keys / most_keys_counted <= shape.contributions;
    return counts ? counted<Number>(shape, tables) : sorted<Number>(shape, tables);
}

/// Where rows begin, by a byte each: `begins` keeps every rows_together-th, `behind` has what is between there and
/// each row's. Empty where that is too much, and begins is as it was. A kernel for hexahedra of order 4 moves a
/// twelfth less.
template <class Number>
std::vector<std::uint8_t> shorten(std::vector<Number>& begins) {
    constexpr auto together = static_cast<std::size_t>(row_lists::rows_together);
    std::vector<std::uint8_t> behind(begins.size());
    for (std::size_t r = 0; r < begins.size(); ++r) {
        const auto more = begins[r] - begins[r / together * together];
        if (more > std::numeric_limits<std::uint8_t>::max()) return {};
        behind[r] = static_cast<std::uint8_t>(more);
    }
    for (std::size_t r = 0; r < begins.size(); r += together) begins[r / together] = begins[r];
    begins.resize((begins.size() + together - 1) / together);
    return behind;
}

/// Pieces of one allocation, filled from the host.
class packer {
  public:
    template <class T>
    std::size_t add(const std::vector<T>& values) {
        const auto at = bytes_.size();
        bytes_.resize((at + values.size() * sizeof(T) + alignment - 1) / alignment * alignment);
        if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size() * sizeof(T));
        return at;
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    static constexpr std::size_t alignment = 256;
    std::vector<std::byte> bytes_;
};

} // namespace

table_inverse::table_inverse(const scatter_shape& shape, const statement& s, device d, backend& b)
    : memory_(nullptr, {&b}) {
    std::vector<table_entries> tables;
    for (const auto& t : shape.tables) tables.emplace_back(shape, t, s, d, b);
    packer all;
    std::size_t begins = 0, behind = 0, entries = 0, keys = 0;
    bool has_keys = false, is_short = false;
    const auto pack = [&](auto rows) {
        lists_.rows = static_cast<std::int64_t>(rows.begins.size()) - 1;
        for (std::size_t r = 1; r < rows.begins.size(); ++r)
            longest_row_ = std::max<std::int64_t>(longest_row_, rows.begins[r] - rows.begins[r - 1]);
        const auto bytes = shorten(rows.begins);
        is_short = !bytes.empty();
        behind = all.add(bytes), begins = all.add(rows.begins), entries = all.add(rows.entries);
        has_keys = !rows.keys.empty();
        if (!has_keys) return;
        keys = shape.has_wide_keys() ? all.add(rows.keys)
                                     : all.add(std::vector<std::int32_t>(rows.keys.begin(), rows.keys.end()));
    };
    if (shape.has_wide_list())
        pack(rows_of<std::int64_t>(shape, tables));
    else
        pack(rows_of<std::int32_t>(shape, tables));
    memory_.reset(b.allocate(all.bytes().size()));
    b.copy_in(memory_.get(), all.bytes().data(), all.bytes().size());
    const auto* const first = static_cast<const std::byte*>(memory_.get());
    lists_.begins = first + begins, lists_.entries = first + entries;
    if (is_short) lists_.behind = first + behind;
    if (has_keys) lists_.keys = first + keys;
}

} // namespace ricci::runtime
