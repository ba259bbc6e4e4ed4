// sum_parts: a sum of everything into one element, as sums over parts of it and the sum of these.
#include "lowering/sum_parts.hpp"

#include "lowering/temporaries.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ricci::lowering {
namespace {

/// Of the longest axis, in a part at least: some microseconds of work.
constexpr std::int64_t least_part = 1 << 14, most_parts = 64;

/// The axis of the root's sum that is the longest; -1 where the root is no sum, or another sum has that axis too.
std::int32_t longest_axis(const step& st) {
    if (st.nodes.back().kind != operation::sum) return -1;
    const auto root = static_cast<std::size_t>(st.nodes.back().b);
    std::int32_t longest = -1;
    const auto extent = [&](std::int32_t a) { return st.axes[static_cast<std::size_t>(a)].extent; };
    for (const auto a : st.sums[root])
        if (longest < 0 || extent(a) > extent(longest)) longest = a;
    for (std::size_t s = 0; s < st.sums.size(); ++s)
        if (s != root && std::count(st.sums[s].begin(), st.sums[s].end(), longest) > 0) return -1;
    return longest;
}

/// The elements of an axis from `first` on only.
void begin_at(step& st, std::size_t axis, std::int64_t first) {
    for (auto& o : st.operands) {
        o.offset += first * o.stride[axis];
        for (auto& b : o.bounds) b.offset += first * b.coefficient[axis];
    }
}

/// A first axis, the output's: `count` parts of `length` elements of an axis each.
void divide(step& st, std::size_t axis, std::int64_t count, std::int64_t length) {
    for (auto& o : st.operands) {
        o.present.insert(o.present.begin(), o.present[axis]);
        o.stride.insert(o.stride.begin(), length * o.stride[axis]);
        for (auto& b : o.bounds) b.coefficient.insert(b.coefficient.begin(), length * b.coefficient[axis]);
    }
    st.axes[axis].extent = length;
    st.axes.insert(st.axes.begin(), {"part", count, true});
    if (!st.classes.empty()) st.classes.insert(st.classes.begin(), axis_class::other);
    for (auto& list : st.sums)
        for (auto& a : list) ++a;
}

} // namespace

std::vector<step> summed_in_parts(const step& st, plan& p) {
    const auto& to = st.operands[0];
    const auto longest = longest_axis(st);
    if (longest < 0 || st.group >= 0 || !to.bounds.empty() || !to.gathers.empty() ||
        std::any_of(to.present.begin(), to.present.end(), [](char here) { return here != 0; }))
        return {};
    const auto axis = static_cast<std::size_t>(longest);
    const auto parts = std::min(st.axes[axis].extent / least_part, most_parts);
    if (parts < 2) return {};
    const auto length = st.axes[axis].extent / parts, rest = st.axes[axis].extent % parts;

    step total;
    total.op = st.op;
    total.compute = st.compute;
    total.kernel = st.kernel;
    total.shape = form::reduction;
    total.axes = {{"part", parts + (rest > 0), true}};
    const auto sums = add_temporary(p, total.axes, {1}, st.compute, {});
    total.operands = {to, sums};
    total.operands[0].present = {0}, total.operands[0].stride = {0};
    total.nodes = {{operation::access, 1}, {operation::sum, 0, 0}};
    total.sums = {{0}};

    step each = st;
    each.op = assignment::assign;
    divide(each, axis, parts, length);
    each.operands[0] = sums;
    each.operands[0].present.resize(each.axes.size(), 0), each.operands[0].stride.resize(each.axes.size(), 0);
    std::vector<step> out{std::move(each)};
    if (rest > 0) {
        step last = st;
        last.op = assignment::assign;
        last.axes[axis].extent = rest;
        begin_at(last, axis, parts * length);
        last.operands[0] = sums;
        last.operands[0].offset += parts;
        last.operands[0].present.assign(last.axes.size(), 0), last.operands[0].stride.assign(last.axes.size(), 0);
        out.push_back(std::move(last));
    }
    out.push_back(std::move(total));
    return out;
}

} // namespace ricci::lowering
