// factor_warp: the parameters of the GPU's factor_warp kernel, and what each would cost.
#include "lowering/factor_warp.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/priced_tile.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <utility>

namespace ricci::lowering {
namespace {

constexpr std::int64_t least_rows = 9, most_rows = 64;

/// Whether neighbors along this axis of the matrix are neighbors in memory.
bool are_neighbors(const step& st, std::int32_t axis) {
    const auto* const o = operand_in(st, matrix_role::matrix);
    return o != nullptr && axis >= 0 && std::abs(o->stride[static_cast<std::size_t>(axis)]) == 1;
}

/// As the kernel counts them.
struct shape {
    std::int64_t m, n, r, size, lanes, of_warp, lane_rows, halves, panel;
    bool is_complex, in_slabs; ///< slabs of columns
    std::int64_t pivots() const { return std::min(m, n); }
    std::int64_t columns() const { return n + r; }
    std::int64_t in_access() const { return std::max<std::int64_t>(1, 16 / size); }
    std::int64_t lead() const { return (up(m, in_access()) | 1) * in_access(); }
    std::int64_t last_panel() const {
        const auto rest = pivots() % panel;
        return columns() > pivots() ? 0 : rest > panel / 2 ? rest : panel + rest;
    }
    std::int64_t packed_at() const { return up_to((n - 2) * (lead() - m), in_access()); }
    bool comes_packed() const {
        const auto room = n * lead() - (packed_at() + n * m);
        const bool may_move = m % 4 != 0 && size < 16 && (r == 0 || room >= in_access() - 1);
        return in_slabs && (lead() == m || may_move);
    }
    bool moves() const { return comes_packed() && lead() != m; }
};
shape shape_of(const step& st, const batched_tile& tile) {
    const auto s = matrix_sizes_of(st);
    const std::int64_t lanes = tile.tile_m;
    return {s.m,
            s.n,
            s.r,
            size_of(st.compute),
            lanes,
            warp / lanes,
            up(s.m, lanes),
            up(s.m, 8),
            tile.k_panel,
            is_complex(st.compute),
            tile.boxed && are_neighbors(st, st.matrices.row)};
}

/// Without spilling, as NVRTC 13.0 has it for sm_90, to a few; below 64 it refuses the tensor cores' instructions.
std::int64_t registers_of(const shape& s) {
    const std::int64_t others = !s.is_complex ? 48 : s.lane_rows > 1 ? 88 : 64;
    return std::max<std::int64_t>(64, others + s.lane_rows * s.panel * s.size / 2);
}

std::int64_t matrix_bytes(const shape& s) {
    const std::int64_t run = s.lanes * s.size, rows = 8 * s.halves;
    std::int64_t elements = (s.columns() - 1) * s.lead() + std::max(s.lead(), rows);
    if (s.moves()) {
        const std::int64_t most_shift = (s.r > 0 ? s.in_access() : 128 / s.size) - 1;
        elements = std::max(elements, s.packed_at() + most_shift + (s.n - 1) * s.m + std::max(s.m, rows));
    }
    elements = up_to(elements, s.in_access()) + 2 * up_to(std::max(s.panel, s.last_panel()), s.in_access());
    std::int64_t bytes = up_to(elements * s.size + 4 * (up_to(s.m, 4) + up_to(s.pivots(), 4) + 4), 16);
    while (run < 128 && bytes % 128 != run) bytes += 16;
    return bytes;
}

/// Blocks that an SM has at once; each of its quarters has its own registers.
std::int64_t resident_blocks(const shape& s, const batched_tile& tile, const machine& chip) {
    const std::int64_t of_an_sm = shared_of_an_sm(chip),
                       by_memory = of_an_sm / (tile.products * matrix_bytes(s) + shared_of_a_block),
                       warps_of_quarter = registers_of_an_sm / 4 / (warp * registers_of(s));
    return std::max<std::int64_t>(1, std::min({by_memory, blocks_of_an_sm, threads_of_an_sm / tile.threads,
                                               4 * warps_of_quarter * warp / tile.threads}));
}

} // namespace

bool is_by_warps(const batched_tile& tile) { return tile.core == batched_core::mma; }

bool warps_are_faster(const step& st) {
    const auto s = matrix_sizes_of(st);
    const bool fills_tiles = s.m % 16 == 0 && s.n % 8 == 0;
    const auto most = std::max(s.m, s.n);
    switch (st.compute) {
    case scalar_type::c128:
        return true;
    case scalar_type::c64:
        return most > 12;
    case scalar_type::f32:
        return most > 22;
    default:
        return most > (s.r > 0 ? 14 : 21) || fills_tiles;
    }
}

std::int64_t factor_warp_shared_bytes(const step& st, const batched_tile& tile) {
    return tile.products * matrix_bytes(shape_of(st, tile));
}

/// What 567 of these kernels took on an H100 (9 to 64 rows, all types), to 13 % (root mean square), when no matrix
/// came packed and the last panel was as the others: a matrix's steps, and what is done for all of a warp's one by
/// one, wait for results while as many matrices as fit are under way; shared memory moves 128 bytes a cycle for each;
/// and the matrices come and go.
double factor_warp_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    const auto s = shape_of(st, tile);
    const double words = static_cast<double>(s.size) / 4, rows = static_cast<double>(s.lane_rows),
                 of_warp = static_cast<double>(s.of_warp), steps = static_cast<double>(s.pivots()),
                 panels = static_cast<double>(up(s.pivots(), s.panel)), panel = static_cast<double>(s.panel),
                 parts = s.is_complex ? 2 : 1;
    double tiles = 0; // of 8 columns
    for (std::int64_t first = 0; first < s.pivots(); first += s.panel)
        tiles += static_cast<double>(up(s.columns() - std::min(first + s.panel, s.pivots()), 8));
    const bool by_elements = !s.comes_packed() && s.m * s.size % 16 != 0; // columns begin at no multiples of 16 bytes
    const double waiting = 157 * steps * rows * parts + 24 * tiles * of_warp + 4440 +
                           (by_elements ? 18 * steps * rows * of_warp : 0) + 70.0 * static_cast<double>(s.n * s.r);
    const double accesses = panel * words / 4, // of a pivot's row
        moved = 0.57 * steps * (4 * accesses + rows * (accesses + 1) + 1) / of_warp +
                3 * panels * panel * words * rows / of_warp +
                tiles * words * (panel / 2 + 4 * static_cast<double>(s.halves));
    const auto resident = static_cast<double>(resident_blocks(s, tile, chip) * tile.products);
    const double by_sms = (waiting / resident + moved) / (sm_clock(chip) * chip.processors);
    const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), r = static_cast<double>(s.r);
    const double bytes =
        static_cast<double>(s.size) * ((st.matrices.keeps_factors ? 2 : 1) * m * n + 2 * n * r) + 4 * n + 4;
    const double by_memory = bytes / (0.93 * chip.bandwidth);
    return static_cast<double>(matrix_sizes_of(st).matrices) *
           (std::max(by_memory, by_sms) + 0.1 * std::min(by_memory, by_sms));
}

std::vector<batched_tile> factor_warp_candidates(const step& st, const machine& chip) {
    const auto s = matrix_sizes_of(st);
    const auto& w = st.matrices;
    if (w.task != matrix_task::factor || w.method != matrix_method::lu || st.dynamic_extents ||
        std::max(s.m, s.n) > most_rows || std::min(s.m, s.n) < least_rows || capability_of(chip, 90) < 90 ||
        !(are_neighbors(st, w.row) || are_neighbors(st, w.column)))
        return {};
    std::vector<priced_tile> found;
    for (const std::int32_t lanes : {8, 16, 32})
        for (const std::int32_t panel : {8, 4})
            for (const std::int32_t warps : {1, 2, 4}) {
                batched_tile tile;
                tile.core = batched_core::mma, tile.tile_m = lanes, tile.k_panel = panel;
                tile.boxed = matrices_are_dense(st);
                tile.threads = warp * warps, tile.products = tile.threads / lanes;
                const auto sh = shape_of(st, tile);
                if (sh.lane_rows > 4 || (lanes > 8 && lanes / 2 >= s.m) || registers_of(sh) > 240 ||
                    factor_warp_shared_bytes(st, tile) > chip.shared_bytes)
                    continue;
                tile.stages = static_cast<std::int32_t>(resident_blocks(sh, tile, chip));
                found.push_back({tile, factor_warp_seconds(st, tile, chip)});
            }
    return cheapest_first(std::move(found));
}

} // namespace ricci::lowering
