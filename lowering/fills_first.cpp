// fills_first: what a program sets to a number goes before what has nothing to do with it.
#include "lowering/fills_first.hpp"

#include "lowering/same_memory.hpp"

#include <utility>

namespace ricci::lowering {
namespace {

bool reads_nothing(const step& st) {
    return st.matrices.task == matrix_task::none && st.operands.size() == 1 && st.op == assignment::assign &&
           st.operands[0].source >= 0;
}

} // namespace

plan fills_first(plan p) {
    for (std::size_t n = 1; n < p.steps.size(); ++n) {
        if (!reads_nothing(p.steps[n])) continue;
        const auto memory = memory_of(p, p.steps[n].operands[0].source);
        for (auto to = n; to > 0 && !reads_nothing(p.steps[to - 1]) && !may_meet(p, p.steps[to - 1], memory); --to)
            std::swap(p.steps[to], p.steps[to - 1]);
    }
    return p;
}

} // namespace ricci::lowering
