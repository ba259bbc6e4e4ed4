// chain_call_work: see the header; the loops are those of kernels/chain_calls.hpp.
#include "lowering/chain_call_work.hpp"

#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <bit>

namespace ricci::lowering {

std::int32_t lanes_of(const chain_call& call) {
    const auto rows = static_cast<std::uint32_t>(std::clamp(std::max(call.rows, call.columns), 1, warp));
    const auto lanes = static_cast<std::int32_t>(std::bit_ceil(rows));
    const bool many_idle = 4 * static_cast<std::int32_t>(rows) <= 3 * lanes;
    return many_idle && lanes > 4 ? lanes / 2 : lanes;
}

std::int64_t threads_of(const chain_phase& ph) { return ph.item_count() * (ph.call ? lanes_of(*ph.call) : 1); }

double lane_instructions(const chain_phase& ph) {
    if (!ph.call) return 0;
    const auto& call = *ph.call;
    const std::int64_t lanes = lanes_of(call), m = call.rows, n = call.columns, r = call.sides, k = std::min(m, n);
    // A multiply-add with two loads and a store; what a step has beside them: search and exchange, or a norm.
    constexpr double update = 4.5, of_step = 70;
    const auto all = [&](std::int64_t rows, std::int64_t columns) {
        return update * static_cast<double>(up(rows, lanes) * columns);
    };
    double out = 0;
    for (std::int64_t step = 0; step < k; ++step) {
        out += of_step;
        const auto below = m - step - 1;
        if (call.task == matrix_task::factor) {
            const auto right = (call.method == matrix_method::cholesky ? below / 2 : n - step - 1) + r;
            // reflectors pass twice over columns, of which each lane has some
            out += call.method == matrix_method::qr ? 2 * all(right, below + 1) : all(below, right);
            if (r > 0) out += of_step + all(step, r);
        } else {
            out += call.method == matrix_method::triangular ? all(below, r) : 2 * all(m / 2 + 1, r) + of_step;
        }
    }
    return out;
}

double warp_instructions(const chain& c) {
    double out = 0;
    for (const auto& ph : c.phases) out += static_cast<double>(threads_of(ph)) / warp * lane_instructions(ph);
    return out;
}

} // namespace ricci::lowering
