// write_through: a step that computes a temporary writes what another one copies it to.
#include "lowering/write_through.hpp"

#include <map>
#include <utility>

namespace ricci::lowering {
namespace {

/// The operand that `copy` copies, or null.
const operand* copied(const step& writer, const step& copy) {
    if (writer.op != assignment::assign || writer.compute != copy.compute) return nullptr;
    if (copy.nodes.size() != 1 || copy.nodes.front().kind != operation::access) return nullptr;
    const auto& from = copy.operands[static_cast<std::size_t>(copy.nodes.front().a)];
    const auto& to = writer.operands[0];
    const bool is_it = from.source < 0 && from.source == to.source && from.offset == to.offset &&
                       from.type == to.type && to.type == writer.compute;
    return is_it && from.gathers.empty() && from.bounds.empty() && to.gathers.empty() && to.bounds.empty() ? &from
                                                                                                           : nullptr;
}

/// For each axis of `copy` the writer's that goes along the same dimension of the temporary; -1 for those of one
/// value. Nothing where an axis has none, or a dimension several.
std::optional<std::vector<std::int32_t>> axes_of_writer(const step& writer, const step& copy, const operand& from) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> dimensions; // by stride and extent
    for (std::size_t a = 0; a < writer.axes.size(); ++a) {
        if (!writer.operands[0].present[a] || writer.axes[a].extent == 1) continue;
        const std::pair key(writer.operands[0].stride[a], writer.axes[a].extent);
        if (!dimensions.emplace(key, static_cast<std::int32_t>(a)).second) return {};
    }
    std::vector<std::int32_t> out;
    for (std::size_t a = 0; a < copy.axes.size(); ++a) {
        out.push_back(-1);
        if (copy.axes[a].extent == 1) continue;
        const auto found = dimensions.find({from.stride[a], copy.axes[a].extent});
        if (!from.present[a] || found == dimensions.end()) return {};
        out.back() = found->second;
        dimensions.erase(found);
    }
    if (!dimensions.empty()) return {};
    return out;
}

operand along(operand o, const std::vector<std::int32_t>& axes, std::size_t count) {
    std::vector<std::int64_t> stride(count, 0);
    std::vector<char> present(count, 0);
    for (std::size_t a = 0; a < axes.size(); ++a) {
        if (axes[a] < 0) continue;
        stride[static_cast<std::size_t>(axes[a])] = o.stride[a];
        present[static_cast<std::size_t>(axes[a])] = o.present[a];
    }
    o.stride = std::move(stride), o.present = std::move(present);
    return o;
}

} // namespace

std::optional<step> write_through(const step& writer, const step& copy) {
    const auto* const from = copied(writer, copy);
    if (from == nullptr || !copy.operands[0].bounds.empty()) return {};
    const auto axes = axes_of_writer(writer, copy, *from);
    if (!axes) return {};
    auto out = writer;
    out.op = copy.op;
    out.operands[0] = along(copy.operands[0], *axes, writer.axes.size());
    for (auto& g : out.operands[0].gathers) {
        const auto& table = copy.operands[static_cast<std::size_t>(g.table)];
        g.table = static_cast<std::int32_t>(out.operands.size());
        out.operands.push_back(along(table, *axes, writer.axes.size()));
    }
    return out;
}

} // namespace ricci::lowering
