// factor_tiles: the parameters of the GPU's factor_tiles kernel, and what each would cost.
#include "lowering/factor_tiles.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

constexpr std::int64_t least_rows = 17, most_rows = 64, least_faster = 23;

/// As the kernel counts them.
struct tiling {
    std::int64_t n, warps, row_tiles, panels, column_tiles, lane_rows;
};
tiling tiling_of(const step& st, const batched_tile& tile) {
    const std::int64_t n = matrix_sizes_of(st).n, warps = tile.tile_m / warp, panels = up(n, 4);
    return {n, warps, up(n, 8), panels, up(panels, 2 * warps), n > 32 ? 2 : 1};
}

/// As NVRTC 13.0 counts them for sm_90; to 24 rows it does with 80 of 100, and more warps are worth it (0.75 of the
/// triad for 0.70 at 24).
std::int64_t registers_of(const tiling& s, const batched_tile& tile) {
    const std::int64_t natural = s.row_tiles * s.column_tiles * 4 + (s.lane_rows == 1 ? 64 : 80);
    return tile.stages > 0 ? std::min<std::int64_t>(natural, 80) : natural;
}

bool has_unit_steps(const step& st) {
    const auto* const o = operand_in(st, matrix_role::matrix);
    if (o == nullptr) return false;
    const auto is_one = [&](std::int32_t axis) {
        return axis >= 0 && std::abs(o->stride[static_cast<std::size_t>(axis)]) == 1;
    };
    return is_one(st.matrices.row) || is_one(st.matrices.column);
}

} // namespace

bool is_in_tiles(const batched_tile& tile) { return tile.tile_n == 0; }

bool tiles_are_faster(const step& st) {
    const auto n = matrix_sizes_of(st).n;
    return n >= least_faster && n != 33 && (n <= 48 || n > 56);
}

std::int64_t factor_tiles_shared_bytes(const step& st, const batched_tile& tile) {
    const auto s = tiling_of(st, tile);
    constexpr std::int64_t size = 8, width = 4;
    const std::int64_t slots = warp * s.lane_rows, row_pitch = (8 * s.column_tiles + 11) / 16 * 16 + 4,
                       told = s.row_tiles * warp * size + 4 * warp * (1 + s.lane_rows);
    const std::int64_t elements = s.warps * 2 * width * row_pitch + s.n * (slots + 1);
    const std::int64_t all = elements * size + (s.warps > 1 ? 2 : 1) * told + 4 * (s.n + slots + s.warps);
    return tile.products * up(all, 16) * 16;
}

/// Four columns take a warp 3300 cycles, and two 2900, when as many run as there are registers for (H100; 2900 to
/// 3700 between 24 and 64 rows): its instructions wait for one another.
double factor_tiles_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    const auto s = tiling_of(st, tile);
    const auto matrices = static_cast<double>(matrix_sizes_of(st).matrices);
    const std::int64_t warps_of_quarter = registers_of_an_sm / 4 / (warp * up(registers_of(s, tile), 8) * 8),
                       by_memory_of_sm = (chip.shared_bytes + shared_of_a_block) /
                                         (factor_tiles_shared_bytes(st, tile) + shared_of_a_block) * tile.products,
                       resident =
                           std::max<std::int64_t>(1, std::min(4 * warps_of_quarter / s.warps, by_memory_of_sm));
    const auto n = static_cast<double>(s.n);
    const double cycles = (s.warps == 1 ? 3300 : 2900) * n / 4 / static_cast<double>(resident);
    const double bytes = 16 * n * n + 4 * n + 4;
    const double by_memory = bytes / (0.9 * chip.bandwidth), by_sms = cycles / (sm_clock(chip) * chip.processors);
    return matrices * std::max(by_memory, by_sms);
}

std::vector<batched_tile> factor_tiles_candidates(const step& st, const machine& chip) {
    const auto s = matrix_sizes_of(st);
    const auto& w = st.matrices;
    const bool is_of_it = w.task == matrix_task::factor && w.method == matrix_method::lu &&
                          st.compute == scalar_type::f64 && w.keeps_factors && s.r == 0 && !st.dynamic_extents &&
                          operand_in(st, matrix_role::log_abs) == nullptr &&
                          operand_in(st, matrix_role::sign) == nullptr;
    if (!is_of_it || s.m != s.n || s.n < least_rows || s.n > most_rows || capability_of(chip, 90) < 90 ||
        !has_unit_steps(st))
        return {};
    batched_tile tile;
    tile.tile_n = 0, tile.k_panel = 4, tile.boxed = matrices_are_dense(st);
    std::vector<batched_tile> out;
    const auto add = [&](std::int32_t lanes, std::int32_t matrices, std::int32_t stages) {
        tile.tile_m = lanes, tile.products = matrices, tile.threads = lanes * matrices, tile.stages = stages;
        if (factor_tiles_shared_bytes(st, tile) <= chip.shared_bytes) out.push_back(tile);
    };
    if (s.n <= 24) add(32, 1, 24), add(32, 2, 12);
    if (s.n <= 48) add(32, 1, 0);
    if (s.n <= 32) add(32, 2, 0);
    if (s.n > 32) add(64, 1, 0);
    return out;
}

} // namespace ricci::lowering
