// scatter_left: makes a step of its own of what adds to elements that tables with equal entries give.
#include "lowering/scatter_left.hpp"

#include "lowering/gathers.hpp"
#include "lowering/refuse.hpp"
#include "lowering/scatter_shape.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ricci::lowering {
namespace {

/// A matrix found by an address that depends on an index of such a table has no place among the others.
void refuse_addresses(const step& st, const statement& s) {
    const auto shape = scatter_shape_of(st);
    const auto* const addresses = table_of_addresses(st, st.operands[0]);
    if (addresses == nullptr) return;
    for (const auto a : shape.axes)
        if (addresses->present[static_cast<std::size_t>(a)])
            refuse(s,
                   "index {} gives the address of a matrix of {} and stands in its index table: only one of them is "
                   "possible",
                   st.axes[static_cast<std::size_t>(a)].name, operand_names(s)[0]);
}

/// There are atomic additions of 4 and 8 bytes; a CPU's threads add in order as fast.
void choose_collision(step& st, const machine& chip, plan& p) {
    if (collision_of(st) != collision::atomic) return;
    const bool possible = chip.kind == target::cuda && size_of(real_of(st.operands[0].type)) >= 4;
    if (!possible)
        p.notes.push_back(fmt::format("atomic additions of {} are not used on {}: what equal entries get is added in "
                                      "order",
                                      name_of(st.operands[0].type), chip.kind == target::cuda ? "a GPU" : "a CPU"));
    for (auto& g : st.operands[0].gathers)
        if (g.equal != collision::none) g.equal = possible ? collision::atomic : collision::ordered;
}

void note_pass(const step& st, plan& p) {
    const auto shape = scatter_shape_of(st);
    if (collision_of(st) == collision::atomic)
        p.notes.push_back(fmt::format("equal entries: {} contributions are added by atomics, in any order",
                                      element_count(st.axes, st.operands[0].present)));
    else
        p.notes.push_back(fmt::format("equal entries: an ordered second pass over {} entries for at most {} targets; "
                                      "the table's inverse, kept from run to run, takes at most {} bytes",
                                      shape.contributions, shape.most_targets(), shape.most_bytes()));
}

/// The output's axes that the right side has: along the others it is the same.
std::vector<char> axes_of_right_side(const step& st) {
    std::vector<char> out(st.axes.size(), 0);
    for (const auto& n : st.nodes)
        for (std::size_t a = 0; n.kind == operation::access && a < out.size(); ++a)
            out[a] |= st.operands[0].present[a] & st.operands[static_cast<std::size_t>(n.a)].present[a];
    return out;
}

/// The left side as the temporary of its contributions is to lie: with the tables' indices outermost, also before
/// components that lie farther apart in the tensor (`v(l(i,e),m)`), so that a chain may go along them.
operand laid_out(const step& st) {
    constexpr std::int64_t most_components = 9;
    const auto shape = scatter_shape_of(st);
    auto out = nominal(st, st.operands[0]);
    std::uint64_t nearest = std::numeric_limits<std::uint64_t>::max();
    for (const auto a : shape.axes) nearest = std::min(nearest, magnitude(out.stride[static_cast<std::size_t>(a)]));
    for (std::size_t a = 0; a < st.axes.size(); ++a)
        if (!shape.has_axis(a) && st.axes[a].extent <= most_components && magnitude(out.stride[a]) >= nearest)
            out.stride[a] = 0;
    return out;
}

bool holds_sum(const step& st) {
    return std::any_of(st.nodes.begin(), st.nodes.end(), [](const node& n) { return n.kind == operation::sum; });
}

} // namespace

plan scatter_left(plan p, const statement& s, const machine& chip) {
    std::vector<step> steps;
    for (auto& st : p.steps) {
        if (collision_of(st) != collision::none) {
            refuse_addresses(st, s);
            choose_collision(st, chip, p);
            if (element_count(st.axes, st.operands[0].present) > 0) note_pass(st, p);
            if (holds_sum(st)) {
                const auto& left = st.operands[0];
                auto kept = add_temporary(p, st.axes, axes_of_right_side(st), st.compute, {laid_out(st)});
                auto last = copy_step(st, left, st.op, kept, st.compute);
                st.operands[0] = std::move(kept);
                st.op = assignment::assign;
                prune(st);
                steps.push_back(std::move(st));
                steps.push_back(std::move(last));
                continue;
            }
        }
        steps.push_back(std::move(st));
    }
    p.steps = std::move(steps);
    return p;
}

} // namespace ricci::lowering
