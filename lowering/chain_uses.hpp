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
        as_rows        ///< a matrix's
    } how = when::at_points;
    std::size_t op = 0; ///< of the phase, unless it is a pencil's
};

/// f(chain_use) for each use that a phase makes of a view.
template <class F>
void for_each_use(const chain& c, std::size_t phase, const F& f) {
    using when = chain_use::when;
    const auto view = [&](std::int32_t n) -> const chain_view& { return c.views[static_cast<std::size_t>(n)]; };
    const auto& ph = c.phases[phase];
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
