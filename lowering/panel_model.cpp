// panel_model: the parameters of the GPU's kernels that stream panels of k through shared memory.
#include "lowering/panel_model.hpp"

#include "lowering/bank_conflicts.hpp"
#include "lowering/batched_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t most_threads = 256;
/// of batched_panels, at least: two blocks an SM with fewer leave most issue slots empty
constexpr std::int64_t panel_threads = 192;
/// registers a thread holds of C, fewer of complex numbers: two blocks of 256 threads share an SM
constexpr std::int64_t most_sums = 64;

bool c_has_unit_rows(const step& st) {
    const auto axes = axes_of(st, m);
    return !axes.empty() && st.operands[0].stride[static_cast<std::size_t>(axes.front())] == 1;
}

std::int64_t x_bytes(const step& st) { return size_of(st.operands[static_cast<std::size_t>(st.x)].type); }
std::int64_t y_bytes(const step& st) { return size_of(st.operands[static_cast<std::size_t>(st.y)].type); }

} // namespace

bool set_tiles(batched_tile& t, std::int64_t rows, std::int64_t columns, const mma_shape* mma, std::int64_t words,
               std::int64_t least_threads) {
    const auto high = mma == nullptr ? rows : t.c_transposed ? up(columns, mma->rows) : up(rows, mma->rows);
    const auto wide = mma == nullptr ? columns : t.c_transposed ? up(rows, 8) : up(columns, 8);
    const auto largest =
        mma == nullptr ? (words == 1 ? most_sums : most_sums * 3 / 4) / words : most_sums / words / (mma->rows / 4);
    const auto threads = mma == nullptr ? 1 : warp;
    std::int64_t least = INT64_MAX;
    for (std::int64_t tm = 1; tm <= std::min<std::int64_t>(high, 16); ++tm)
        for (std::int64_t tn = 1; tn <= std::min<std::int64_t>(wide, 16); ++tn) {
            const auto tiles = up(high, tm) * up(wide, tn);
            if (tm * tn > std::max<std::int64_t>(largest, 1) || tiles * threads > most_threads ||
                tiles * threads < least_threads)
                continue;
            const auto cost = tiles * (tm * tn * 16 + 4 * (tm + tn));
            if (cost >= least) continue;
            least = cost;
            t.tile_m = static_cast<std::int32_t>(tm), t.tile_n = static_cast<std::int32_t>(tn);
            t.threads = static_cast<std::int32_t>(tiles * threads);
        }
    return least != INT64_MAX;
}

batched_tile start_tile(const step& st, const mma_shape* mma) {
    batched_tile t;
    t.core = mma != nullptr ? batched_core::mma : batched_core::fma;
    t.c_transposed = mma != nullptr && c_has_unit_rows(st);
    t.rows_first = true;
    t.k_unrolled = 2;
    return t;
}

const mma_shape* mma_for(const step& st, std::int64_t side, const machine& chip) {
    constexpr std::int64_t least_side = 5, least_split_side = 12;
    const bool splits = st.compute == scalar_type::f32 && x_bytes(st) == 4 && st.math == math_mode::full;
    return side >= (splits ? least_split_side : least_side) ? mma_of(st, chip) : nullptr;
}

namespace {

void set_stages(batched_tile& t, const step& st, const machine& chip) {
    const auto stage = panel_layout_of(st, t).stage_bytes;
    t.stages = static_cast<std::int32_t>(std::clamp<std::int64_t>(chip.shared_bytes / 2 / stage, 2, 4));
}

} // namespace

double panel_reads::of_operand(std::int64_t side, std::int64_t along, std::int64_t apart, const mma_shape& mma) {
    const auto [at, is_new] = known_.try_emplace({side, along, apart}, 0);
    if (is_new)
        at->second = number_wavefronts(mma.element_bytes, is_complex(step_.compute) ? 2 : 1, [&](int lane) {
            return lane / 4 * side + lane % 4 * steps_between_lanes(apart) * along;
        });
    return at->second;
}

double panel_reads::passes(const panel_layout& layout, const batched_tile& t, std::int64_t steps) {
    if (t.core != batched_core::mma || layout.fragments != fragment_load::elements) return 0;
    const auto& mma = *mma_of(step_, t);
    const auto apart = 16 * t.k_apart > steps ? std::min<std::int64_t>(t.k_apart, 1) : t.k_apart;
    const double x = of_operand(layout.row[1], layout.column[1], apart, mma),
                 y = of_operand(layout.column[2], layout.row[2], apart, mma);
    const double left = t.c_transposed ? y : x, right = t.c_transposed ? x : y;
    return static_cast<double>(steps) / 4 * (t.tile_m * (mma.rows / 8) * left + t.tile_n * right);
}

double panel_reads::passes(const batched_tile& t, std::int64_t steps) {
    return t.realigned ? 0 : passes(panel_layout_of(step_, t), t, steps);
}

std::int32_t panel_reads::best_apart(batched_tile t, std::int64_t steps) {
    if (t.realigned) return 0;
    const auto layout = panel_layout_of(step_, t);
    return least_apart(steps, [&](int apart) {
        t.k_apart = apart;
        return passes(layout, t, steps);
    });
}

bool takes_panels(const step& st) {
    for (const auto c : {m, n, k})
        if (axes_of(st, c).size() > 1) return false;
    return true;
}

batched_tile choose_panels_tile(const step& st, const machine& chip) {
    const auto* mma = mma_of(st, chip);
    auto t = start_tile(st, mma);
    const auto em = extent_of(st, m), en = extent_of(st, n), words = size_of(st.compute) / 4;
    const auto most_columns = std::clamp<std::int64_t>(most_threads * most_sums / (em * words) / 8 * 8, 8, 64);
    auto columns = up(up(en, up(en, most_columns)), 8) * 8;
    while (!set_tiles(t, em, columns, mma, words, panel_threads) && !set_tiles(t, em, columns, mma, words))
        columns -= 8;
    t.panel = static_cast<std::int32_t>(columns);
    t.k_panel = static_cast<std::int32_t>(std::max<std::int64_t>(8, 128 / std::max(x_bytes(st), y_bytes(st))));
    set_stages(t, st, chip);
    return t;
}

} // namespace ricci::lowering
