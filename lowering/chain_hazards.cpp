// chain_hazards: what a phase must not do, as its threads do not wait for each other. One rule: what a phase writes
// is there for the thread that has computed it, at the same item and point, until the next phase begins. So
// - what has been stored is not loaded again (check_stores);
// - what has been loaded or stored is stored only through the same view, by the same thread at the same point, and
//   not beside a pencil of the same place, which is loaded before all points or stored after them (check_reads);
// - a temporary's slot is read or added to only where an earlier phase has written it, as a whole (check_read,
//   check_addition), and not written in parts while this phase keeps its values (check_part).
#include "lowering/chain_state.hpp"

#include <algorithm>

namespace ricci::lowering {

void chain_state::check_reads(std::int32_t to) const {
    const auto& ph = out_.phases.back();
    const no_chain problem{"it is computed beside what it writes"};
    for (const auto& q : ph.pencils)
        if (same_place(q.view, to)) throw problem;
    for (const auto& op : ph.ops) {
        if (op.view >= 0 && op.view != to && same_place(op.view, to)) throw problem;
        if (op.matrix < 0) continue;
        const auto view = out_.matrices[static_cast<std::size_t>(op.matrix)].view;
        if (view >= 0 && same_place(view, to)) throw problem;
    }
}

void chain_state::check_stores(std::int32_t from) const {
    for (const auto& q : out_.phases.back().pencils)
        if (q.is_output && same_place(q.view, from)) throw no_chain{"it reads what is computed beside it"};
    for (const auto& op : out_.phases.back().ops)
        if (op.kind == what::store && same_place(op.view, from))
            throw no_chain{"it reads what is computed beside it"};
}

void chain_state::check_read(const local_tensor& t) const {
    if (t.place != local_tensor::kept::nowhere || t.phase == phase_number())
        throw no_chain{"it reads other points of what is computed beside it"};
    if (!t.is_covered()) throw no_chain{"it reads a temporary that is not written as a whole"};
}

void chain_state::check_addition(const local_tensor& t) const {
    if (t.place != local_tensor::kept::nowhere || t.phase == phase_number())
        throw no_chain{"what it adds to is computed beside it"};
    if (!t.is_covered()) throw no_chain{"it adds to a temporary that is not written as a whole"};
}

void chain_state::check_part(const local_tensor& t) const {
    if (t.place != local_tensor::kept::nowhere) throw no_chain{"another part is computed beside it"};
}

bool chain_state::same_place(std::int32_t a, std::int32_t b) const {
    const auto &x = out_.views[static_cast<std::size_t>(a)], &y = out_.views[static_cast<std::size_t>(b)];
    return x.where == y.where && x.number == y.number;
}

} // namespace ricci::lowering
