// choose_tile: the parameters of a step's kernel.
#include "lowering/choose_tile.hpp"

#include "lowering/tile_candidates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace ricci::lowering {
namespace {

constexpr double near_best = 1.1; ///< of the model's least seconds: it cannot tell these candidates apart
constexpr std::size_t most_neighbors = 3;

/// What makes one tile like another of another size, each number a doubling or a yes.
using structure = std::array<double, 16>;

structure structure_of(const batched_tile& t, const std::array<std::int64_t, 3>& sizes) {
    const auto log = [](double x) { return std::log2(std::max(x, 1.0)); };
    const auto [m, n, k] = sizes;
    const auto elements =
        static_cast<double>(m * n + m * k + n * k); // bytes a block: those of a layout have the same types
    // other kernels: more than a doubling
    return {(t.core == batched_core::mma ? 4.0 : 0.0) + (t.in_registers ? 8.0 : 0.0),
            t.in_registers ? 4.0 : 0.0,
            t.boxed ? 4.0 : 0.0,
            log(t.tile_m * t.tile_n),
            (log(t.tile_m) - log(t.tile_n)) / 2,
            log(t.products * elements),
            log(t.threads),
            log(t.k_panel),
            log(t.stages),
            log(t.slices),
            t.rows_first ? 1.0 : 0.0,
            t.skewed ? 1.0 : 0.0,
            (t.c_transposed ? 1.0 : 0.0) + (t.k_apart > 0 ? 1.0 : 0.0),
            t.columns_apart ? 1.0 : 0.0,
            t.realigned ? 1.0 : 0.0,
            log(t.thread_products)};
}

double distance(const structure& a, const structure& b) {
    double out = 0;
    for (std::size_t n = 0; n < a.size(); ++n) out += std::abs(a[n] - b[n]);
    return out;
}

/// Of the model's best few the one whose structure is nearest to the neighbors', nearer sizes counting more.
batched_tile most_alike(const step& st, const std::vector<batched_tile>& candidates, const machine& chip,
                        const tuning_key& key, const std::vector<tuning_table::neighbor>& neighbors) {
    const auto seconds = predicted_seconds(st, candidates, chip);
    const auto least = *std::min_element(seconds.begin(), seconds.end());
    batched_tile best = candidates.front();
    double nearest = INFINITY, its_seconds = INFINITY;
    for (std::size_t n = 0; n < candidates.size(); ++n) {
        if (seconds[n] > near_best * least) continue;
        const auto own = structure_of(candidates[n], key.sizes);
        double d = 0;
        for (const auto& near : neighbors)
            d += distance(own, structure_of(near.best->tile, near.key->sizes)) / (near.distance + 0.1);
        if (d < nearest || (d == nearest && seconds[n] < its_seconds))
            best = candidates[n], nearest = d, its_seconds = seconds[n];
    }
    return best;
}

/// Whether measurements of other sizes say anything: not of a factorization, whose best layouts change from a size to
/// the next. (H100, LU of f64: what was most like neighbors' best took up to 18 % longer than the model's choice at
/// 14 sizes of 5 to 24 rows, and as long at larger ones. Others were not measured.)
bool has_neighbors(const step& st) { return st.matrices.task != matrix_task::factor; }

} // namespace

void choose_tile(step& st, const machine& chip, const priors& known) {
    if (!has_tile(st, chip)) return;
    std::vector<const tuning_table*> tables;
    for (const auto* table : {known.measured, known.shipped})
        if (table != nullptr && !table->entries().empty()) tables.push_back(table);
    if (!tables.empty()) {
        std::vector<tuning_key> keys{key_of(st, chip)};
        // What was measured of columns on sectors is better than nothing.
        if (has_tall_columns_off_sectors(st, chip)) keys.push_back(with_columns_on_sectors(keys[0]));
        std::vector<batched_tile> made; // often thousands: only where a table has something to say of them
        const auto candidates = [&]() -> const std::vector<batched_tile>& {
            if (made.empty()) made = tile_candidates(st, chip);
            return made;
        };
        const auto take = [&](const batched_tile& tile, tile_origin origin) {
            st.batched = tile, st.origin = origin;
        };
        for (const auto& key : keys) {
            for (const auto* table : tables)
                if (const auto* found = table->find(key);
                    found != nullptr &&
                    std::find(candidates().begin(), candidates().end(), found->tile) != candidates().end())
                    return take(found->tile, table == known.measured ? tile_origin::measured : tile_origin::shipped);
            if (!has_neighbors(st)) continue;
            for (const auto* table : tables)
                if (const auto neighbors = table->near(key, most_neighbors);
                    !neighbors.empty() && candidates().size() > 1)
                    return take(most_alike(st, candidates(), chip, key, neighbors), tile_origin::neighbors);
        }
    }
    st.batched = model_tile(st, chip);
    st.origin = tile_origin::model;
}

} // namespace ricci::lowering
