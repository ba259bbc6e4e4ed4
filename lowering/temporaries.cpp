// temporaries: new memory in a plan, and the accesses and copies that go with it.
#include "lowering/temporaries.hpp"

#include "lowering/gathers.hpp"
#include "lowering/matrix_sizes.hpp"

#include <algorithm>
#include <numeric>

namespace ricci::lowering {
namespace {

constexpr std::int64_t saturation = std::int64_t{1} << 62;

std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
    std::int64_t out = 0;
    return __builtin_mul_overflow(a, b, &out) || out > saturation ? saturation : out;
}

template <class T>
void keep_marked(std::vector<T>& values, const std::vector<char>& keep) {
    std::size_t to = 0;
    for (std::size_t from = 0; from < keep.size(); ++from)
        if (keep[from]) {
            if (to != from) values[to] = std::move(values[from]);
            ++to;
        }
    values.resize(to);
}

} // namespace

std::int64_t element_count(const std::vector<axis>& axes, const std::vector<char>& present) {
    std::int64_t count = 1;
    for (std::size_t a = 0; a < axes.size(); ++a)
        if (present[a]) count = saturating_product(count, axes[a].extent);
    return count;
}

std::uint64_t magnitude(std::int64_t x) {
    return x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
}

operand add_temporary(plan& p, const std::vector<axis>& axes, const std::vector<char>& present, scalar_type type,
                      const std::vector<operand>& like) {
    std::vector<std::uint64_t> farthest(axes.size(), 0);
    for (const auto& o : like)
        for (std::size_t a = 0; a < axes.size(); ++a) farthest[a] = std::max(farthest[a], magnitude(o.stride[a]));
    std::vector<std::size_t> order(axes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return farthest[a] < farthest[b]; });

    operand out;
    out.type = type;
    out.source = -1 - static_cast<std::int32_t>(p.temporaries.size());
    out.present = present;
    out.stride.assign(axes.size(), 0);
    std::int64_t stride = 1;
    std::vector<std::int64_t> extents;
    for (const auto a : order) {
        if (!present[a]) continue;
        out.stride[a] = stride, stride = saturating_product(stride, axes[a].extent);
        extents.push_back(axes[a].extent);
    }
    p.temporaries.push_back({type, stride});
    p.temporaries.back().extents = std::move(extents);
    return out;
}

std::set<std::int32_t> own_temporaries(const plan& p, std::size_t first, std::size_t last) {
    std::set<std::int32_t> out;
    for (auto n = first; n <= last; ++n)
        for (std::size_t o = 0; o < p.steps[n].operands.size(); ++o)
            if (const auto source = p.steps[n].operands[o].source; source < 0 && writes_operand(p.steps[n], o))
                out.insert(source);
    for (std::size_t n = 0; n < p.steps.size(); ++n)
        if (n < first || n > last)
            for (const auto& o : p.steps[n].operands) out.erase(o.source);
    return out;
}

step copy_step(const step& from, operand target, assignment op, operand source, scalar_type compute) {
    step out;
    out.op = op;
    out.compute = compute;
    out.group = from.group;
    out.axes = from.axes;
    out.operands = {std::move(target), std::move(source)};
    take_tables(out, from);
    out.nodes = {{operation::access, 1, -1}};
    drop_unused_axes(out);
    return out;
}

void drop_unused_axes(step& st) {
    std::vector<char> used(st.axes.size(), 0);
    for (const auto& o : st.operands)
        for (std::size_t a = 0; a < used.size(); ++a) used[a] |= o.present[a];
    for (const auto& list : st.sums)
        for (const auto a : list) used[static_cast<std::size_t>(a)] = 1;
    if (std::find(used.begin(), used.end(), 0) == used.end()) return;
    std::vector<std::int32_t> number(used.size(), -1);
    for (std::size_t a = 0, next = 0; a < used.size(); ++a)
        if (used[a]) number[a] = static_cast<std::int32_t>(next++);
    for (auto& list : st.sums)
        for (auto& a : list) a = number[static_cast<std::size_t>(a)];
    for (auto& o : st.operands) {
        keep_marked(o.stride, used);
        keep_marked(o.present, used);
        for (auto& b : o.bounds) keep_marked(b.coefficient, used);
    }
    keep_marked(st.axes, used);
    if (!st.classes.empty()) keep_marked(st.classes, used);
}

} // namespace ricci::lowering
