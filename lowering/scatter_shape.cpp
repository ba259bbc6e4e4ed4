// scatter_shape: which element of the output each entry of its tables stands for.
#include "lowering/scatter_shape.hpp"

#include "lowering/temporaries.hpp"

#include <numeric>

namespace ricci::lowering {

scatter_shape scatter_shape_of(const step& st) {
    const auto& left = st.operands[0];
    const auto table_of = [&](const gather& g) -> const operand& {
        return st.operands[static_cast<std::size_t>(g.table)];
    };
    std::vector<char> counts(left.gathers.size(), 0), marked(st.axes.size(), 0);
    const auto touches = [&](const gather& g) {
        if (g.equal != collision::none) return true;
        for (std::size_t a = 0; a < marked.size(); ++a)
            if (marked[a] && table_of(g).present[a]) return table_of(g).type != scalar_type::address;
        return false;
    };
    for (bool grows = true; grows;) {
        grows = false;
        for (std::size_t g = 0; g < left.gathers.size(); ++g) {
            if (counts[g] || !touches(left.gathers[g])) continue;
            counts[g] = 1, grows = true;
            for (std::size_t a = 0; a < marked.size(); ++a) marked[a] |= table_of(left.gathers[g]).present[a];
        }
    }

    scatter_shape out;
    std::uint64_t unit = 0, low = 0, high = 0; // of what fix_indices found to fit 64 bits
    const auto add_reach = [&](std::int64_t stride, std::int64_t extent) {
        if (extent < 2) return;
        unit = std::gcd(unit, magnitude(stride));
        (stride < 0 ? low : high) += static_cast<std::uint64_t>(stride) * static_cast<std::uint64_t>(extent - 1);
    };
    for (std::size_t a = 0; a < marked.size(); ++a) {
        if (!marked[a]) continue;
        out.axes.push_back(static_cast<std::int32_t>(a));
        out.extent.push_back(st.axes[a].extent);
        out.stride.push_back(left.stride[a]);
        add_reach(left.stride[a], st.axes[a].extent);
    }
    for (std::size_t g = 0; g < left.gathers.size(); ++g) {
        if (!counts[g]) continue;
        const auto& here = left.gathers[g];
        const auto& table = table_of(here);
        out.gathers.push_back(g);
        auto& made = out.tables.emplace_back();
        made.source = table.source, made.type = table.type, made.offset = table.offset, made.factor = here.stride;
        for (const auto a : out.axes) made.stride.push_back(table.stride[static_cast<std::size_t>(a)]);
        add_reach(here.stride, here.extent);
    }
    out.contributions = element_count(st.axes, marked);
    out.lowest = static_cast<std::int64_t>(low);
    out.unit = static_cast<std::int64_t>(std::max<std::uint64_t>(unit, 1));
    out.keys = static_cast<std::int64_t>((high - low) / static_cast<std::uint64_t>(out.unit)) + 1;
    return out;
}

} // namespace ricci::lowering
