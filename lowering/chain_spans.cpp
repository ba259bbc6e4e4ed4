// chain_spans: where each memory begins for a chain, and which slices of it are moved as a whole.
#include "lowering/chain_layout.hpp"
#include "lowering/chain_uses.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace ricci::lowering {
namespace {

/// What part of a slice must be used for it to be moved as a whole.
constexpr double least_use = 0.6;

/// f(element's place in the slice) for every element of a view.
template <class F>
void for_each_element(const chain& c, const chain_view& v, const F& f) {
    const auto& ph = c.phases[static_cast<std::size_t>(v.phase)];
    std::vector<std::int64_t> strides, extents;
    const auto add = [&](const std::vector<std::int64_t>& s, const std::vector<std::int64_t>& e) {
        strides.insert(strides.end(), s.begin(), s.end());
        extents.insert(extents.end(), e.begin(), e.end());
    };
    add(v.item, ph.items), add(v.stream, ph.stream), add(v.inner, v.inner_extent);
    const auto count = product_of(extents);
    for (std::int64_t n = 0; n < count; ++n) {
        auto rest = n, at = v.offset;
        for (std::size_t a = 0; a < extents.size(); ++a) at += rest % extents[a] * strides[a], rest /= extents[a];
        f(at);
    }
}

} // namespace

chain_reach reach_of(const chain& c, const chain_view& v) {
    chain_reach out{v.offset, v.offset};
    const auto& ph = c.phases[static_cast<std::size_t>(v.phase)];
    out.go_along(v.item, ph.items), out.go_along(v.stream, ph.stream), out.go_along(v.inner, v.inner_extent);
    return out;
}

namespace {

/// What all operands of a memory have behind its first element becomes the memory's: it may belong to a range, which
/// is no constant of the kernel.
void take_offsets(chain& c) {
    for (std::size_t m = 0; m < c.memories.size(); ++m) {
        const auto number = static_cast<std::int32_t>(m);
        std::vector<std::int64_t*> offsets;
        for (auto& v : c.views)
            if (v.where == chain_view::space::memory && v.number == number) offsets.push_back(&v.offset);
        for (auto& matrix : c.matrices)
            if (matrix.memory == number) offsets.push_back(&matrix.offset);
        if (offsets.empty()) continue;
        const auto least =
            **std::min_element(offsets.begin(), offsets.end(), [](auto* a, auto* b) { return *a < *b; });
        for (auto* offset : offsets) *offset -= least;
        c.memories[m].offset += least;
    }
}

/// Whether a phase reads an element of the memory that no phase before it has written.
bool is_read_first(const chain& c, std::int32_t memory) {
    std::set<std::int64_t> written;
    const auto is_its = [&](const chain_view& v) {
        return v.where == chain_view::space::memory && v.number == memory;
    };
    for (std::size_t p = 0; p < c.phases.size(); ++p) {
        bool is_missing = false;
        for_each_use(c, p, [&](const chain_use& use) {
            if (use.reads && is_its(use.view))
                for_each_element(c, use.view, [&](std::int64_t at) { is_missing |= written.count(at) == 0; });
        });
        if (is_missing) return true;
        for_each_use(c, p, [&](const chain_use& use) {
            if (use.writes && is_its(use.view))
                for_each_element(c, use.view, [&](std::int64_t at) { written.insert(at); });
        });
    }
    return false;
}

} // namespace

void find_spans(chain& c, bool on_gpu) {
    take_offsets(c);
    for (std::size_t m = 0; m < c.memories.size(); ++m) {
        auto& memory = c.memories[m];
        const auto step = memory.element_step;
        bool is_span = step > 0;
        chain_reach all{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
        std::vector<chain_view*> views;
        for (auto& v : c.views) {
            if (v.where != chain_view::space::memory || v.number != static_cast<std::int32_t>(m)) continue;
            const auto own = reach_of(c, v);
            all.first = std::min(all.first, own.first), all.last = std::max(all.last, own.last);
            is_span = is_span && v.tables.empty();
            views.push_back(&v);
        }
        constexpr std::int64_t longest = 1 << 16;
        if (views.empty() || (is_index(memory.type) && !on_gpu) || all.last - all.first >= step || step > longest)
            is_span = false;
        if (!is_span) continue;
        std::vector<char> used(static_cast<std::size_t>(step), 0);
        for (const auto* v : views)
            for_each_element(c, *v, [&](std::int64_t at) { used[static_cast<std::size_t>(at - all.first)] = 1; });
        const auto count = static_cast<double>(std::count(used.begin(), used.end(), 1));
        // What is stored as a whole must be the chain's as a whole: gaps may be written by others meanwhile.
        if (count < (memory.is_written ? 1 : least_use) * static_cast<double>(step)) continue;
        memory.is_span = true;
        if (memory.is_written && memory.is_read) memory.is_read = is_read_first(c, static_cast<std::int32_t>(m));
        memory.offset += all.first, memory.reach = all.last - all.first + 1;
        for (auto* v : views) v->offset -= all.first;
    }
}

} // namespace ricci::lowering
