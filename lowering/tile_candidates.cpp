// tile_candidates: what parameters a step's kernel may have and what the model says of them, whatever its family.
#include "lowering/tile_candidates.hpp"

#include "lowering/batched_model.hpp"
#include "lowering/blocked_product.hpp"
#include "lowering/cost_model.hpp"
#include "lowering/factor_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/gett_product.hpp"
#include "lowering/lanes_model.hpp"
#include "lowering/panel_model.hpp"
#include "lowering/register_tile.hpp"
#include "lowering/stationary_model.hpp"
#include "lowering/tall_skinny_ab_model.hpp"
#include "lowering/tall_skinny_atb_model.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::lowering {
namespace {

std::vector<double> seconds_of(const std::vector<batched_cost>& costs) {
    std::vector<double> out;
    for (const auto& cost : costs) out.push_back(cost.seconds());
    return out;
}

/// The first of the candidates that the model expects to be the fastest.
batched_tile cheapest_tile(const step& st, const machine& chip) {
    const auto candidates = tile_candidates(st, chip);
    const auto seconds = predicted_seconds(st, candidates, chip);
    batched_tile best;
    double least = INFINITY;
    for (std::size_t c = 0; c < candidates.size(); ++c)
        if (seconds[c] < least * (1 - 1e-9)) best = candidates[c], least = seconds[c];
    return best;
}

} // namespace

bool has_tile(const step& st, const machine& chip) {
    if (st.matrices.task != matrix_task::none) return st.chain < 0;
    if (chip.kind == target::cpu)
        return st.kernel == family::batched_small || st.kernel == family::batched_lanes ||
               st.kernel == family::batched_blocked || st.kernel == family::gett;
    return st.kernel != family::none && st.kernel != family::direct && st.kernel != family::scatter &&
           st.kernel != family::library && st.kernel != family::chain && st.kernel != family::winograd &&
           st.kernel != family::tile_transform;
}

bool is_worth_tuning(const step& st, const machine& chip) {
    if (st.matrices.task != matrix_task::none)
        return chip.has_compiler && !st.dynamic_extents && factor_candidates(st, chip).size() > 1;
    return has_tile(st, chip) &&
           (st.kernel != family::tall_skinny_ab || extent_of(st, axis_class::m) >= shortest_tall);
}

std::vector<batched_tile> tile_candidates(const step& st, const machine& chip) {
    if (!has_tile(st, chip)) return {};
    if (st.matrices.task != matrix_task::none) return factor_candidates(st, chip);
    if (st.kernel == family::batched_blocked) return blocked_tiles(st, chip);
    if (st.kernel == family::gett) return gett_tiles(st, chip);
    if (chip.kind == target::cpu)
        return st.kernel == family::batched_lanes ? neighbor_tiles(st, chip) : register_tiles(st, chip);
    if (st.kernel == family::batched_small) return batched_candidates(st, chip);
    if (st.kernel == family::batched_lanes) return lanes_candidates(st, chip);
    if (st.kernel == family::batched_stationary) return stationary_candidates(st, chip);
    if (st.kernel == family::tall_skinny_atb) return atb_candidates(st, chip);
    if (st.kernel == family::tall_skinny_ab) return ab_candidates(st, chip);
    return {model_tile(st, chip)};
}

std::vector<double> predicted_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip) {
    if (st.matrices.task != matrix_task::none) {
        std::vector<double> out;
        for (const auto& tile : tiles) out.push_back(factor_seconds(st, tile, chip) + chip.launch_seconds);
        return out;
    }
    if (st.kernel == family::batched_blocked) return blocked_seconds(st, tiles, chip);
    if (st.kernel == family::gett) return gett_seconds(st, tiles, chip);
    if (chip.kind == target::cpu)
        return st.kernel == family::batched_lanes ? neighbor_tile_seconds(st, tiles, chip)
                                                  : register_tile_seconds(st, tiles, chip);
    if (st.kernel == family::batched_small) return seconds_of(batched_costs(st, tiles, chip));
    if (st.kernel == family::batched_lanes) return lanes_seconds(st, tiles, chip);
    if (st.kernel == family::batched_stationary) return stationary_seconds(st, tiles, chip);
    if (st.kernel == family::tall_skinny_atb) return atb_seconds(st, tiles, chip);
    if (st.kernel == family::tall_skinny_ab) return ab_seconds(st, tiles, chip);
    return std::vector<double>(tiles.size(), cost_model(st, chip).seconds);
}

double predicted_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    return predicted_seconds(st, std::vector<batched_tile>{tile}, chip).front();
}

batched_tile model_tile(const step& st, const machine& chip) {
    if (!has_tile(st, chip)) return {};
    if (st.matrices.task != matrix_task::none) {
        const auto candidates = factor_candidates(st, chip);
        return candidates.empty() ? batched_tile{} : candidates.front();
    }
    if (chip.kind == target::cpu) return cheapest_tile(st, chip);
    switch (st.kernel) {
    case family::batched_small:
        return choose_batched_tile(st, chip);
    case family::batched_lanes:
    case family::batched_stationary:
    case family::gett:
    case family::tall_skinny_atb:
    case family::tall_skinny_ab:
        return cheapest_tile(st, chip);
    case family::batched_panels:
        return choose_panels_tile(st, chip);
    default:
        return {};
    }
}

} // namespace ricci::lowering
