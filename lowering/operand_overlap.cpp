// operand_overlap: exact tests over bounded integers.
#include "lowering/operand_overlap.hpp"

#include "lowering/coincidence.hpp"

#include <utility>
#include <vector>

namespace ricci::lowering {

bool touch(const step& st, const operand& a, const operand& b, std::int64_t apart) {
    const auto a_size = size_of(a.type), b_size = size_of(b.type);
    std::vector<bounded_term> terms;
    for (std::size_t x = 0; x < st.axes.size(); ++x) {
        if (st.axes[x].extent == 1) continue; // its stride may be any number
        if (a.present[x]) terms.push_back({a.stride[x] * a_size, 0, st.axes[x].extent - 1});
        if (b.present[x]) terms.push_back({-b.stride[x] * b_size, 0, st.axes[x].extent - 1});
    }
    for (const auto& g : a.gathers) terms.push_back({g.stride * a_size, 0, g.extent - 1});
    for (const auto& g : b.gathers) terms.push_back({-g.stride * b_size, 0, g.extent - 1});
    return has_solution(std::move(terms), -(a_size - 1) - apart, b_size - 1 - apart);
}

bool touches_twice(const step& st, const operand& o, const std::vector<char>& among) {
    std::vector<bounded_term> terms;
    for (std::size_t x = 0; x < st.axes.size(); ++x)
        if (among[x] && st.axes[x].extent > 1)
            terms.push_back({o.stride[x], 1 - st.axes[x].extent, st.axes[x].extent - 1});
    return has_solution(std::move(terms), 0, 0, true, false);
}

} // namespace ricci::lowering
