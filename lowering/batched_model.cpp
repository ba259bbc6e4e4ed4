// batched_model: the legal parameters of the GPU's batched_small kernel for a product, and what each would cost.
//
// A block copies whole products into shared memory, multiplies and copies them out, once. So its time is that of the
// copies' latency and of its arithmetic one after another, and what an SM does at a time follows from how many blocks
// fit.
#include "lowering/batched_model.hpp"

#include "lowering/batched_work.hpp"
#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/product_sizes.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr int most_registers = 210;              ///< a thread, predicted; beyond, kernels spill
constexpr std::int64_t most_fma_words = 168;     ///< of sums, and twice the factors, of multiply-adds
constexpr std::int64_t least_mma_side = 5;       ///< below, most of a tensor core's tile would be empty

// Fitted to 7000 timings on an H200 (159 random shapes of all types, 95 times a square from 5 to 64, 2026-11-22), by
// least squares of the logarithm. Of the candidates that were timed the choice runs at 0.976 of the best in geometric
// mean on the random shapes, 0.81 at worst, and no worse with constants fitted to other shapes; at 0.963 on the
// squares, 0.71 at worst. With the registers that the compiler takes, instead of those predicted, the random shapes
// would be at 0.98: a kernel of 2-byte numbers, columns apart, may take 1.6 times as many.
constexpr double shared_rate = 0.68, issue_rate = 1.65; ///< of what batched_work.cpp counts
/// One unit's time hides behind another's, but the less the nearer they are, as blocks take turns at random: together
/// they take the norm of this order of all times.
constexpr double overlap = 5.9;
/// of a block, from asking for its spans until they are stored, its products apart
constexpr double copy_cycles = 5900;
constexpr double own_memory = 0.43; ///< of the memory's time for a block, what it waits for itself
/// Cycles an instruction of a warp, what it waits for itself: of the tensor cores' tiles, and of multiply-adds.
constexpr double own_issue = 3.8, own_issue_of_fma = 2.5;
/// Of the time of warps that have no tile in a block's last round, what other blocks do not fill.
constexpr double idle_share = 0.5;

/// Where the operands of a product's candidates lie.
struct candidate_layouts {
    const step& st;
    batched_layout as_it_came;
    bool may_realign;

    explicit candidate_layouts(const step& from)
        : st(from), as_it_came(batched_layout_of(from)), may_realign(can_realign(from, as_it_came)) {}
    batched_layout of(const batched_tile& t) const {
        auto out = as_it_came;
        if (t.realigned) realign(st, t, out);
        return out;
    }
};

bool multiply_alike(const batched_tile& a, const batched_tile& b) {
    return a.core == b.core && a.tile_m == b.tile_m && a.tile_n == b.tile_n && a.rows_first == b.rows_first &&
           a.skewed == b.skewed && a.c_transposed == b.c_transposed && a.columns_apart == b.columns_apart &&
           a.k_apart == b.k_apart && a.rows_of_16 == b.rows_of_16 && a.realigned == b.realigned &&
           (!a.realigned || (a.products == b.products && a.threads == b.threads));
}

double operand_bytes(const step& st, const batched_layout& layout, const product_sizes& s) {
    const auto taken = [&](const staged_operand& o, std::int64_t own, int bytes) {
        const auto elements = o.slot == 0 ? 0 : o.is_span ? o.slot : own;
        return static_cast<double>(elements * bytes);
    };
    const auto& [c, x, y] = layout.operands;
    return taken(x, s.m * s.k, s.x_bytes) + taken(y, s.k * s.n, s.y_bytes) +
           static_cast<double>(s.m * s.n * s.c_bytes) * (st.op == assignment::assign ? 1 : 2);
}

void add_sizes(std::vector<batched_tile>& out, const step& st, const machine& chip, const batched_layout& layout,
               batched_tile t) {
    const auto one = batched_shared_bytes(st, layout, 1);
    if (one > chip.shared_bytes) return;
    // regions are rounded up: the difference of few would be that of their rounding
    constexpr std::int64_t many = 1024;
    const auto per_product = std::max<std::int64_t>(1, (batched_shared_bytes(st, layout, 1 + many) - one) / many);
    std::int64_t last = 0;
    for (const std::int64_t aim : {12 << 10, 24 << 10, 36 << 10, 48 << 10}) {
        const auto products = std::clamp<std::int64_t>((aim - one) / per_product + 1, 1, 4096);
        if (products == last || batched_shared_bytes(st, layout, products) > chip.shared_bytes) continue;
        last = products;
        t.products = static_cast<std::int32_t>(products);
        for (const int threads : {64, 128, 256}) {
            t.threads = threads;
            out.push_back(t);
        }
    }
}

batched_cost cost_from(const batched_work& w, const step& st, const product_sizes& s, const batched_layout& layout,
                       const batched_tile& t, const machine& chip) {
    const double batches = static_cast<double>(extent_of(st, batch));
    const double clock = sm_clock(chip);
    const double bytes = operand_bytes(st, layout, s);
    const double seconds_a_cycle = batches / (clock * chip.processors);
    batched_cost out;
    out.memory = bytes * batches / chip.bandwidth;
    // More for lanes that have no tile in a block's last warp, and warps that have none in its last round.
    const double busy = t.products * w.threads, rounds = std::ceil(busy / t.threads);
    const double uneven =
        ((1 - idle_share) * std::ceil(busy / warp) * warp + idle_share * rounds * t.threads) / busy;
    // In and out of shared memory the operands pass twice more, 128 bytes a cycle.
    out.shared = (shared_rate * w.shared * uneven + 2 * bytes / 128) * seconds_a_cycle;
    out.issue = issue_rate * (w.issue * uneven + w.copies / 4) * seconds_a_cycle;
    out.arithmetic = w.arithmetic * uneven * seconds_a_cycle;
    const double shared = static_cast<double>(batched_shared_bytes(st, layout, t.products) + shared_of_a_block);
    const double registers = std::min(255, w.registers) * t.threads;
    // What the compiler takes is not known so well: how many blocks the registers allow is not rounded, nor where
    // they allow fewer than shared memory.
    const double by_size =
        std::min(std::floor(static_cast<double>(shared_of_an_sm(chip)) / shared),
                 static_cast<double>(std::min(threads_of_an_sm / t.threads, blocks_of_an_sm)));
    const double resident =
        std::max(1.0, std::pow(std::pow(by_size, -4) + std::pow(registers_of_an_sm / registers, -4), -0.25));
    const double instructions = 4 * w.issue * warp / w.threads; // of a tile
    const double own = t.core == batched_core::mma ? own_issue : own_issue_of_fma;
    const auto block_cycles = [&](int products) {
        return copy_cycles + w.copies * products * warp / t.threads +
               std::ceil(products * w.threads / t.threads) * own * instructions;
    };
    out.latency =
        block_cycles(t.products) / (resident * t.products) * seconds_a_cycle + own_memory * out.memory / resident;
    out.alone = block_cycles(1) / clock;
    return out;
}

/// Tiles of one kind, which the tensor cores compute.
void add_mma_tiles_like(std::vector<batched_tile>& out, batched_tile t, const step& st, const machine& chip,
                        const product_sizes& s, const candidate_layouts& layouts) {
    const auto& mma = *mma_of(st, t);
    const auto row_tiles = up(t.c_transposed ? s.n : s.m, mma.rows), column_tiles = up(t.c_transposed ? s.m : s.n, 8);
    // Of 2-byte numbers one by one larger tiles than 2x5 and 3x3 have not been timed.
    const bool by_elements = !t.realigned;
    for (std::int64_t tm = 1; tm <= row_tiles; ++tm)
        for (std::int64_t tn = 1; tn <= column_tiles; ++tn) {
            if (tm * tn > 16 || (by_elements && mma.element_bytes == 2 && tm * tn + 3 * (2 * tm + tn) > 40)) continue;
            t.tile_m = static_cast<std::int32_t>(tm), t.tile_n = static_cast<std::int32_t>(tn);
            // realigned ones wait for their numbers, not for instructions
            t.k_unrolled = (s.k <= 32 && tm * tn <= 4) || (t.realigned && tm * tn <= 8) ? 2 : 1;
            const auto layout = layouts.of(t);
            for (const int apart : {0, 1, 2, 4}) {
                if (apart > 0 && (t.realigned || (apart > 1 && 16 * apart > s.k))) continue;
                t.k_apart = apart;
                if (batched_work_of(st, s, layout, t).registers <= most_registers)
                    add_sizes(out, st, chip, layout, t);
            }
        }
}

void add_mma_tiles(std::vector<batched_tile>& out, const step& st, const machine& chip, const product_sizes& s,
                   const candidate_layouts& layouts) {
    // A lane's two elements are neighbors in memory where the rows of what is computed are C's columns. Lanes that
    // store on different banks want it the other way: rows of eight neighbors, and columns apart.
    const bool neighbors_are_rows = layouts.as_it_came.operands[0].row == 1 || s.n == 1;
    batched_tile t;
    t.core = batched_core::mma;
    t.c_transposed = neighbors_are_rows;
    add_mma_tiles_like(out, t, st, chip, s, layouts);
    if (has_rows_of_16(*mma_of(st), chip)) {
        t.rows_of_16 = true;
        add_mma_tiles_like(out, t, st, chip, s, layouts);
        t.rows_of_16 = false;
    }
    if (mma_of(st)->element_bytes > 2) return;
    t.columns_apart = true;
    t.c_transposed = !neighbors_are_rows;
    if (span_fragments(st, layouts.as_it_came) != fragment_load::matrices)
        add_mma_tiles_like(out, t, st, chip, s, layouts);
    if (!layouts.may_realign) return;
    t.realigned = true;
    add_mma_tiles_like(out, t, st, chip, s, layouts);
}

} // namespace

double batched_cost::seconds() const {
    double sum = 0;
    const double longest = std::max({memory, shared, issue, arithmetic, latency});
    if (longest == 0) return 0;
    for (const double unit : {memory, shared, issue, arithmetic, latency}) sum += std::pow(unit / longest, overlap);
    return longest * std::pow(sum, 1 / overlap);
}

std::vector<batched_tile> batched_candidates(const step& st, const machine& chip) {
    const auto s = sizes_of(st);
    const candidate_layouts layouts(st);
    const auto& layout = layouts.as_it_came;
    std::vector<batched_tile> out;
    const std::int64_t sides[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    const auto is_side = [&](std::int64_t side, std::int64_t extent) { return side == extent || side < extent; };
    std::vector<std::int64_t> tall(std::begin(sides), std::end(sides)), wide = tall;
    if (std::find(tall.begin(), tall.end(), s.m) == tall.end()) tall.push_back(s.m);
    if (std::find(wide.begin(), wide.end(), s.n) == wide.end()) wide.push_back(s.n);
    for (const auto tm : tall)
        for (const auto tn : wide) {
            if (!is_side(tm, s.m) || !is_side(tn, s.n) || tm * tn * s.words > 80 ||
                (tm * tn + 2 * (tm + tn)) * s.words > most_fma_words)
                continue;
            batched_tile t;
            t.core = batched_core::fma;
            t.tile_m = static_cast<std::int32_t>(tm), t.tile_n = static_cast<std::int32_t>(tn);
            t.k_unrolled = s.k <= 8 && tm * tn <= 16 ? static_cast<std::int32_t>(s.k) : tm * tn <= 16 ? 4 : 2;
            for (const bool rows_first : {false, true})
                for (const bool skewed : {false, true}) {
                    t.rows_first = rows_first, t.skewed = skewed;
                    if (skewed && (s.k < 4 || up(s.m, tm) == 1)) continue;
                    add_sizes(out, st, chip, layout, t);
                }
        }
    if (const auto* mma = mma_of(st, chip); mma != nullptr && std::max(s.m, s.n) >= least_mma_side)
        add_mma_tiles(out, st, chip, s, layouts);
    return out;
}

std::vector<batched_cost> batched_costs(const step& st, const std::vector<batched_tile>& tiles, const machine& chip) {
    const auto s = sizes_of(st);
    const candidate_layouts layouts(st);
    std::vector<batched_cost> out;
    batched_layout layout;
    batched_work w;
    for (std::size_t n = 0; n < tiles.size(); ++n) {
        if (n == 0 || !multiply_alike(tiles[n - 1], tiles[n]))
            layout = layouts.of(tiles[n]), w = batched_work_of(st, s, layout, tiles[n]);
        out.push_back(cost_from(w, st, s, layout, tiles[n], chip));
    }
    return out;
}

batched_tile choose_batched_tile(const step& st, const machine& chip) {
    const auto candidates = batched_candidates(st, chip);
    const auto costs = batched_costs(st, candidates, chip);
    double least = INFINITY;
    for (const auto& c : costs) least = std::min(least, c.seconds());
    // One kernel serves batches of any length: of those that are as good for long ones, the best for one product.
    batched_tile best;
    double alone = INFINITY, seconds = INFINITY;
    for (std::size_t n = 0; n < candidates.size(); ++n) {
        const auto own = costs[n].seconds();
        if (own > least * (1 + as_good) || costs[n].alone > alone * (1 + 1e-9)) continue;
        if (costs[n].alone < alone * (1 - 1e-9) || own < seconds * (1 - 1e-9))
            best = candidates[n], alone = std::min(alone, costs[n].alone), seconds = own;
    }
    return best;
}

std::int64_t batched_share(std::int64_t products, const batched_tile& t, const machine& chip) {
    constexpr std::int64_t blocks_of_a_processor = 4;
    return std::clamp<std::int64_t>(products / (blocks_of_a_processor * chip.processors), 1, t.products);
}

} // namespace ricci::lowering
