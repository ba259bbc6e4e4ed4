// factor_stream: the parameters of the GPU's factor_stream kernel, and what each would cost.
#include "lowering/factor_stream.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

constexpr std::int64_t strip = 8, least_rows = 65, most_rows = 256; ///< a row's number is a byte
constexpr std::int64_t registers_wanted = 160;

} // namespace

std::int64_t factor_stream_shared_bytes(const step& st) {
    constexpr std::int64_t size = 8;
    const auto n = matrix_sizes_of(st).n;
    const auto slots = up_to(n, strip), ld = slots + 4;
    const auto elements = slots * ld - 4 + 2 * strip * ld + 2 * strip * strip;
    return up_to(elements * size + 2 * 4 * up(n, warp) + 3 * slots + 4, 16);
}

std::int64_t factor_stream_blocks(const step& st, const batched_tile& tile, const machine& chip) {
    return std::min<std::int64_t>(matrix_sizes_of(st).matrices,
                                  static_cast<std::int64_t>(chip.processors) * std::max(tile.stages, 1));
}

/// Eight columns took 3400 to 3900 cycles to 128 rows on an H100, a seventh more where an SM has several blocks, and
/// 5000 to 5500 beyond, with five rows a lane. As if the batch filled the chip, whatever it is: the choice of a
/// kernel must not change with it (tests/kernels/matrix_batches_test.cpp).
double factor_stream_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    const auto s = matrix_sizes_of(st);
    const auto n = static_cast<double>(s.n), matrices = static_cast<double>(s.matrices);
    const double panel_cycles = (s.n <= 4 * warp ? 3700 : 5200) * (tile.stages > 1 ? 1.15 : 1);
    const double cycles = panel_cycles * static_cast<double>(up(s.n, strip)) / tile.stages *
                          (tile.threads == 128 || tile.stages == 1 ? 1 : 1.1);
    const double by_memory = (16 * n * n + 4 * n + 4) / (0.9 * chip.bandwidth),
                 by_sms = cycles / (sm_clock(chip) * chip.processors);
    return matrices * std::max(by_memory, by_sms);
}

std::vector<batched_tile> factor_stream_candidates(const step& st, const machine& chip) {
    const auto s = matrix_sizes_of(st);
    const auto& w = st.matrices;
    const bool is_of_it = w.task == matrix_task::factor && w.method == matrix_method::lu &&
                          st.compute == scalar_type::f64 && w.keeps_factors && s.r == 0 && !st.dynamic_extents &&
                          operand_in(st, matrix_role::log_abs) == nullptr &&
                          operand_in(st, matrix_role::sign) == nullptr;
    if (!is_of_it || s.m != s.n || s.n < least_rows || s.n > most_rows || capability_of(chip, 90) < 90) return {};
    const auto shared = factor_stream_shared_bytes(st);
    if (shared > chip.shared_bytes) return {};
    const auto by_memory = shared_of_an_sm(chip) / (shared + shared_of_a_block);
    std::vector<batched_tile> out;
    for (const std::int32_t threads : {256, 128, 192}) {
        batched_tile tile;
        tile.streamed = true, tile.k_panel = strip, tile.threads = threads;
        tile.stages =
            static_cast<std::int32_t>(std::min(by_memory, registers_of_an_sm / (threads * registers_wanted)));
        if (tile.stages > 0) out.push_back(tile);
    }
    std::stable_sort(out.begin(), out.end(), [&](const batched_tile& a, const batched_tile& b) {
        return factor_stream_seconds(st, a, chip) < factor_stream_seconds(st, b, chip);
    });
    return out;
}

} // namespace ricci::lowering
