// chain_uses: what of memory and slots a chain's phase reads and writes.
#pragma once

#include "lowering/chain.hpp"

#include <cstddef>
#include <cstdint>

namespace ricci::lowering {

struct chain_use {
    const chain_view& view;
    bool reads = false, writes = false; ///< an addition does both
    enum class when : std::uint8_t {
        around_points, ///< a pencil: read when an item begins, written when it ends
        at_points,     ///< a load or a store
        as_rows        ///< a matrix's, and all that a call uses
    } how = when::at_points;
    std::size_t op = 0; ///< of the phase, unless it is a pencil's
};

/// Whether a call reads and writes its operand in a role.
struct role_use {
    bool reads = false, writes = false;
};
inline role_use use_of(const chain_call& call, matrix_role r) {
    const bool factors = call.task == matrix_task::factor;
    switch (r) {
    case matrix_role::matrix:
        return {true, factors && call.keeps_factors};
    case matrix_role::vector:
        return {!factors, factors};
    case matrix_role::given:
        return {true, false};
    default:
        return {false, true};
    }
}

/// f(chain_use) for each use that a phase makes of a view.
template <class F>
void for_each_use(const chain& c, std::size_t phase, const F& f) {
    using when = chain_use::when;
    const auto view = [&](std::int32_t n) -> const chain_view& { return c.views[static_cast<std::size_t>(n)]; };
    const auto& ph = c.phases[phase];
    if (ph.call) {
        for (std::size_t r = 0; r < matrix_roles; ++r)
            if (const auto v = ph.call->view[r]; v >= 0) {
                const auto use = use_of(*ph.call, static_cast<matrix_role>(r));
                f(chain_use{view(v), use.reads, use.writes, when::as_rows});
            }
        for (const auto v : {ph.call->matrix, ph.call->right})
            if (v >= 0) f(chain_use{view(v), true, true, when::as_rows});
    }
    for (const auto& q : ph.pencils)
        f(chain_use{view(q.view), !q.is_output || q.accumulation != 0, q.is_output, when::around_points});
    for (std::size_t n = 0; n < ph.ops.size(); ++n) {
        const auto& op = ph.ops[n];
        const bool stores = op.kind == chain_op::what::store;
        if (op.view >= 0) f(chain_use{view(op.view), !stores || op.accumulation != 0, stores, when::at_points, n});
        if (op.matrix < 0) continue;
        const auto rows = c.matrices[static_cast<std::size_t>(op.matrix)].view;
        if (rows >= 0) f(chain_use{view(rows), true, false, when::as_rows, n});
    }
}

} // namespace ricci::lowering
