// tuning_plan: which of the parameters that a step's or a chain's kernel may have are worth measuring.
#include "runtime/tuning_plan.hpp"

#include "lowering/chain_key.hpp"
#include "lowering/chain_shape.hpp"
#include "lowering/tile_candidates.hpp"
#include "runtime/executable.hpp"
#include "runtime/kernel_source.hpp"

#include <algorithm>

namespace ricci::runtime {
namespace {

using namespace lowering;
using outcome = candidate::outcome;

/// Makes at most `most` of those that are not pruned `measured`: a third by the prediction alone, then the best of
/// each way to divide a product among threads, then the rest by the prediction. The model's choice stands first.
void select(std::vector<candidate>& all, std::size_t most) {
    std::vector<batched_tile> ways;
    std::size_t count = 0;
    const auto take = [&](std::size_t limit, const auto& wanted) {
        for (auto& c : all) {
            if (count >= limit) return;
            if (c.result != outcome::alike) continue;
            auto way = c.tile;
            way.products = way.threads = 0;
            const bool is_new = std::find(ways.begin(), ways.end(), way) == ways.end();
            if (!wanted(is_new)) continue;
            if (is_new) ways.push_back(way);
            c.result = outcome::measured;
            ++count;
        }
    };
    take(std::max<std::size_t>(1, most / 3), [](bool) { return true; });
    take(most, [](bool is_new) { return is_new; });
    take(most, [](bool) { return true; });
}

tuned_step planned(tuning_key key, const std::vector<batched_tile>& tiles, const std::vector<double>& predicted,
                   const batched_tile& model, const tuning_effort& effort) {
    tuned_step out;
    out.key = std::move(key);
    for (std::size_t n = 0; n < tiles.size(); ++n) {
        auto& c = out.candidates.emplace_back();
        c.tile = tiles[n];
        c.predicted = predicted[n];
    }
    std::stable_sort(out.candidates.begin(), out.candidates.end(), [&](const candidate& a, const candidate& b) {
        return (a.tile == model) != (b.tile == model) ? a.tile == model : a.predicted < b.predicted;
    });
    if (effort.only != nullptr) {
        for (auto& c : out.candidates) {
            const bool is_wanted =
                c.tile == model || std::find(effort.only->begin(), effort.only->end(), c.tile) != effort.only->end();
            c.result = is_wanted ? outcome::measured : outcome::alike;
        }
        return out;
    }
    const auto least = predicted.empty() ? 0 : *std::min_element(predicted.begin(), predicted.end());
    for (auto& c : out.candidates)
        if (c.tile == model || c.predicted <= effort.prune * least) c.result = outcome::alike;
    select(out.candidates, effort.most);
    return out;
}

} // namespace

std::string_view name_of(outcome result) {
    constexpr std::string_view names[] = {"pruned", "alike", "spills", "failed", "wrong", "abandoned", "measured"};
    return names[static_cast<std::size_t>(result)];
}

std::size_t tuned_step::count(outcome result) const {
    return static_cast<std::size_t>(
        std::count_if(candidates.begin(), candidates.end(), [&](const candidate& c) { return c.result == result; }));
}

tuned_step plan_tuning(const step& st, const machine& chip, const tuning_effort& effort) {
    const auto tiles = tile_candidates(st, chip);
    return planned(key_of(st, chip), tiles, predicted_seconds(st, tiles, chip), model_tile(st, chip), effort);
}

tuned_step plan_tuning(const chain& c, const machine& chip, const tuning_effort& effort) {
    const auto tiles = chain_tiles(c, chip);
    auto by_model = c;
    choose_chain_shape(by_model, chip, {});
    return planned(key_of(c), tiles, chain_tile_seconds(c, tiles, chip), tile_of(by_model), effort);
}

bool is_worth_measuring(const plan& p, std::size_t step, const machine& chip) {
    const auto& st = p.steps[step];
    if (!executable::has_work(st)) return false;
    return st.chain < 0 ? is_worth_tuning(st, chip) : chip.kind == target::cuda && begins_kernel(p, step);
}

tuned_step plan_tuning(const plan& p, std::size_t step, const machine& chip, const tuning_effort& effort) {
    const auto& st = p.steps[step];
    return st.chain < 0 ? plan_tuning(st, chip, effort)
                        : plan_tuning(p.chains[static_cast<std::size_t>(st.chain)], chip, effort);
}

} // namespace ricci::runtime
