// tree_source: the constants and arguments of kernels/direct_tree.hpp.
#include "runtime/tree_source.hpp"

#include "lowering/error.hpp"
#include "lowering/gathers.hpp"
#include "lowering/tree.hpp"

#include <algorithm>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// Sums up to here are unrolled over a constant; longer ones take their extent as an argument.
constexpr std::int64_t longest_constant_sum = 32;

/// The axis of a sum that a team of threads shares: its innermost, or its longest where that is shorter than the
/// team.
std::int32_t shared_axis(const step& st, const std::vector<std::int32_t>& list) {
    if (list.empty()) return -1;
    auto best = list.back();
    const auto extent = [&](std::int32_t a) { return st.axes[static_cast<std::size_t>(a)].extent; };
    if (extent(best) >= st.tile[0]) return best;
    for (const auto a : list)
        if (extent(a) > extent(best)) best = a;
    return best;
}

void write_nodes(prelude& out, const step& st) {
    std::vector<std::int32_t> kind, a, b, first, length, axis, shared;
    for (const auto& n : st.nodes)
        kind.push_back(static_cast<std::int32_t>(n.kind)), a.push_back(n.a), b.push_back(n.b);
    for (const auto& list : st.sums) {
        first.push_back(static_cast<std::int32_t>(axis.size()));
        length.push_back(static_cast<std::int32_t>(list.size()));
        shared.push_back(shared_axis(st, list));
        axis.insert(axis.end(), list.begin(), list.end());
    }
    out.constant("node_count", static_cast<std::int64_t>(st.nodes.size()));
    out.list("node_kind", kind);
    out.list("node_a", a);
    out.list("node_b", b);
    out.list("sum_first", first);
    out.list("sum_length", length);
    out.list("sum_axis", axis);
    out.list("sum_shared_axis", shared);
}

std::int32_t scalar_count(const step& st) {
    std::int32_t out = 0;
    for (const auto& n : st.nodes)
        if (n.kind == operation::scalar) out = std::max(out, n.a + 1);
    return out;
}

} // namespace

void write_tree(prelude& out, const step& st) {
    std::vector<std::int64_t> extents;
    for (std::size_t x = 0; x < st.axes.size(); ++x) {
        const auto extent = st.axes[x].extent;
        const bool constant = !st.dynamic_extents && !st.axes[x].variable && !st.operands[0].present[x] &&
                              extent <= longest_constant_sum;
        extents.push_back(constant ? extent : argument);
    }
    // A stride of 0 or 1 shapes the code; any other may belong to a batch's extent.
    std::vector<std::vector<std::int64_t>> strides;
    std::vector<std::int32_t> types, bound_operand, gathered_operand, gather_table;
    for (std::size_t o = 0; o < st.operands.size(); ++o) {
        const auto& here = st.operands[o];
        types.push_back(static_cast<std::int32_t>(here.type));
        auto& row = strides.emplace_back();
        for (const auto s : here.stride) row.push_back(s == 0 || s == 1 ? s : argument);
        for (const auto& g : here.gathers)
            gathered_operand.push_back(static_cast<std::int32_t>(o)), gather_table.push_back(g.table);
        bound_operand.insert(bound_operand.end(), here.bounds.size(), static_cast<std::int32_t>(o));
    }
    out.constant("axis_count", static_cast<std::int64_t>(st.axes.size()));
    out.wide_list("axis_extent", extents);
    out.constant("operand_count", static_cast<std::int64_t>(st.operands.size()));
    out.list("operand_type", types);
    out.wide_table("operand_stride", strides);
    out.constant("bound_count", static_cast<std::int64_t>(bound_operand.size()));
    out.list("bound_operand", bound_operand);
    out.constant("gather_count", static_cast<std::int64_t>(gathered_operand.size()));
    out.list("gathered_operand", gathered_operand);
    out.list("gather_table", gather_table);
    out.constant("scalar_count", scalar_count(st));
    out.constant("compute_type", static_cast<std::int64_t>(st.compute));
    out.constant("accumulation", st.op == assignment::assign ? 0 : st.op == assignment::add ? 1 : -1);
    out.flag("adds_atomically", collision_of(st) == collision::atomic);
    write_nodes(out, st);
}

void pack_tree(kernel_request& out, const step& st, const machine& chip) {
    const auto axes = st.axes.size();
    argument_packer pack(out);
    for (const auto& o : st.operands) pack.address(o);
    std::vector<std::int64_t> extents, gather_strides, offsets, limits;
    std::vector<const bound*> bounds;
    for (const auto& a : st.axes) extents.push_back(a.extent);
    pack.numbers(extents);
    for (const auto& o : st.operands) {
        pack.numbers(o.stride);
        for (const auto& g : o.gathers) gather_strides.push_back(g.stride);
        for (const auto& b : o.bounds) bounds.push_back(&b), offsets.push_back(b.offset), limits.push_back(b.extent);
    }
    pack.numbers(gather_strides);
    pack.numbers(offsets);
    pack.numbers(limits);
    for (const auto* b : bounds) pack.numbers(b->coefficient);
    if (bounds.empty()) pack.numbers(std::vector<std::int64_t>(std::max<std::size_t>(axes, 1), 0));
    const auto scalars = scalar_count(st);
    for (std::int32_t s = 0; s < scalars; ++s) {
        pack.patch(argument_patch::value::scalar_real, s);
        pack.patch(argument_patch::value::scalar_imaginary, s);
    }
    if (scalars == 0) pack.number(0), pack.number(0);

    constexpr std::size_t largest_arguments = 32764, others = 16; // bytes of a CUDA kernel; words behind these
    if (chip.kind == target::cuda && (out.words.size() + others) * sizeof(std::uint64_t) > largest_arguments)
        throw error(fmt::format("a statement with {} operands over {} axes is too large for one GPU kernel: split it",
                                st.operands.size() - 1, axes));
}

step around_node(step st, std::int32_t node, std::int32_t operand) {
    st.nodes[static_cast<std::size_t>(node)] = {operation::access, operand};
    st.nodes = subtree(st.nodes, static_cast<std::int32_t>(st.nodes.size()) - 1);
    st.sums.clear();
    return st;
}

} // namespace ricci::runtime
