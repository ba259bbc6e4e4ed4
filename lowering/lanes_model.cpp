// lanes_model: the legal parameters of the GPU's kernels for interleaved products, and what each would cost.
//
// batched_lanes holds a product in a thread, batched_lane_panels a tile of it (batched_lane_ring and _shifts:
// lane_ring_model). Both are bound by memory where enough
// bytes are under way in an SM; what else they need is counted in the SM's cycles: shared memory's wavefronts and
// instructions. One kernel serves batches of any length, so that lines of neighbors lie at any multiple of a number:
// it is chosen for those.
#include "lowering/lanes_model.hpp"

#include "lowering/families.hpp"
#include "lowering/lane_ring_layout.hpp"
#include "lowering/lane_ring_model.hpp"
#include "lowering/lanes_product.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr int most_registers = 168; ///< a thread, predicted
constexpr std::int64_t most_threads = 512;
constexpr std::int64_t most_parts = 12;                      ///< of C's rows and of its columns together
constexpr std::size_t most_candidates = 1500;

// What lines cost was measured by itself, the rest is fitted to 910 kernels of f64, f32 and f16 products at n = 2..64
// on an H100.
constexpr double read_loss = 46, write_loss = 72; ///< bytes of a line that comes at half of the memory's rate
constexpr double loss_power = 2.2;                ///< by which longer lines lose less
constexpr double l2_rate = 1.4;                   ///< of the L2 cache, in the memory's
constexpr double issue_rate = 2.3;                ///< of what is counted below: waiting, and what was not counted
constexpr double copy_instructions = 14, panel_instructions = 150; ///< of an asynchronous copy; of a panel
constexpr double access_instructions = 15,
                 element_instructions = 7.5; ///< of neighbors of C, in and out; of one of them
constexpr double load_cycles = 1600;         ///< from asking a busy memory for bytes to having them
constexpr double block_cycles = 200;         ///< of a block, beside its loads and its arithmetic: starting
constexpr double late_cycles = 4000;         ///< where C is read when the sums are there
constexpr double step_cycles = 30;           ///< of a step of the sum, what other warps do not hide
constexpr double panel_cycles = 1000;        ///< of a panel: its copies' way and the barrier
constexpr double own_issue = 0.17;           ///< of a block's instructions, what it waits for itself
constexpr double panels_excess = 1.2;        ///< on an H200, of whose faster memory panels have less
constexpr double overlap = 5.8;              ///< how well units work side by side: 1 not at all, infinite wholly

/// Bytes of an asynchronous copy: lines are seldom all aligned to more than a number, and a kernel serves batches of
/// any length.
double copy_bytes(int element_bytes, bool complex) {
    return element_bytes == 16 ? 16 : std::max(4, complex ? element_bytes / 2 : element_bytes);
}

lanes_layout layout_of(const lanes_product& p, const batched_tile& t) {
    lanes_layout out;
    out.columns = t.panel;
    out.rows = std::min(p.s.m, t.threads / (t.products / t.thread_products * up(t.panel, t.tile_n)) * t.tile_m);
    out.row_blocks = up(p.s.m, out.rows), out.column_blocks = up(p.s.n, out.columns);
    out.for_all = {false, p.x_for_all, p.y_for_all};
    for (const std::size_t o : {1, 2}) {
        const auto bytes = o == 1 ? p.s.x_bytes : p.s.y_bytes;
        // Lines of 2-byte elements may lie 2 bytes further.
        out.pitch[o] = out.for_all[o] ? bytes : t.products * bytes + (bytes == 2 ? 16 : 0);
        out.lines[o] = o == 1 ? up(out.rows, t.tile_m) * t.tile_m : up(out.columns, t.tile_n) * t.tile_n;
        out.region[o] = out.stage_bytes;
        out.stage_bytes += up(out.lines[o] * t.k_panel * out.pitch[o], 128) * 128;
    }
    return out;
}

std::int64_t shared_bytes(const lanes_product& p, const lanes_layout& layout, const batched_tile& t) {
    return std::min<std::int64_t>(t.stages, up(p.s.k, t.k_panel)) * layout.stage_bytes;
}

/// As kernels/batched_lane_panels.cuh: whether all tiles of all blocks end where C does.
bool is_even(const lanes_product& p, const batched_tile& t) {
    const auto columns = up(t.panel, t.tile_n), rows = t.threads / (t.products / t.thread_products * columns);
    return p.s.m % (rows * t.tile_m) == 0 && p.s.n % (columns * t.tile_n) == 0;
}

/// What a thread is expected to need.
int predicted_registers(const lanes_product& p, const batched_tile& t) {
    const auto& s = p.s;
    if (!has_panels(t))
        return static_cast<int>(s.m * s.k * registers_of(s.x_bytes) + s.k * s.n * registers_of(s.y_bytes) +
                                (p.accumulates ? s.m * s.n * registers_of(s.c_bytes) : 0)) +
               4 * s.words + 24;
    const int tile = t.tile_m * t.tile_n, sides = (t.tile_m + t.tile_n) * t.thread_products;
    return tile * t.thread_products * s.words +
           std::max(p.reads_c_early(t) ? tile * p.c_registers(t) : 0, sides * s.words) + (is_even(p, t) ? 36 : 52);
}

/// Those of one way to cut C, over how X and Y come.
void add_panels(std::vector<batched_tile>& out, const lanes_product& p, const machine& chip, batched_tile t) {
    constexpr std::int64_t largest_block = 112 << 10, least_stage = 4 << 10, largest_stage = 36 << 10;
    const auto take = [&](std::int64_t k_panel, std::int64_t stages) {
        t.k_panel = static_cast<std::int32_t>(k_panel), t.stages = static_cast<std::int32_t>(stages);
        if (shared_bytes(p, layout_of(p, t), t) <= std::min(chip.shared_bytes, largest_block)) out.push_back(t);
    };
    take(p.s.k, 2);
    t.k_panel = 1;
    const auto step_bytes = layout_of(p, t).stage_bytes;
    for (const std::int64_t k_panel : {2, 4, 8, 16, 32, 64}) {
        if (k_panel >= p.s.k || k_panel * step_bytes > std::max(largest_stage, 2 * step_bytes)) break;
        if (k_panel * step_bytes < least_stage) continue;
        const auto panels = up(p.s.k, k_panel);
        for (const std::int64_t stages : {3, 4})
            if (stages <= panels) take(k_panel, stages);
    }
}

/// Blocks that fit an SM together; `held`: a block's shared memory.
std::int64_t resident_blocks(const lanes_product& p, const batched_tile& t, std::int64_t held, const machine& chip) {
    const auto most = std::min(
        {blocks_of_an_sm, threads_of_an_sm / t.threads, warps_with(predicted_registers(p, t)) / up(t.threads, warp)});
    return std::max<std::int64_t>(
        1, held == 0 ? most : std::min(most, shared_of_an_sm(chip) / (held + shared_of_a_block)));
}

/// Seconds of the whole batch. An SM's units and the memory work side by side, the better the more one of them is the
/// slowest.
double seconds_of(const lane_ring_model& ring, const lanes_product& p, const batched_tile& t, const machine& chip) {
    if (t.boxed) return ring.seconds(t);
    const auto& s = p.s;
    const double clock = sm_clock(chip);
    const double seconds_a_cycle = p.batches / (clock * chip.processors);
    const auto k_steps = static_cast<double>(s.k), line = static_cast<double>(t.products * p.least_bytes);
    const auto wavefronts = [](int element_bytes, bool for_all) {
        return for_all || element_bytes <= 4 ? 1.0 : element_bytes / 4.0;
    };
    const double c_read = p.accumulates ? p.c_taken / 2 : 0, c_written = p.c_taken - c_read;
    // Of a product: warp instructions, wavefronts, bytes copied, whether C comes late; how many blocks share it, and
    // their time alone.
    double instructions = 0, shared = 0, copied = p.x_taken + p.y_taken, late = 0, blocks = 1, alone = block_cycles;
    std::int64_t held = 0;
    if (has_panels(t)) {
        const auto layout = layout_of(p, t);
        blocks = static_cast<double>(layout.row_blocks * layout.column_blocks);
        const double warps = static_cast<double>(t.threads) / t.products / warp * blocks,
                     all_steps = static_cast<double>(up(s.k, t.k_panel) * t.k_panel);
        const double tile = t.tile_m * t.tile_n, sides = t.tile_m + t.tile_n,
                     count = static_cast<double>(up(s.k, t.k_panel)), neighbors = t.thread_products;
        const double x_copied = p.x_taken * static_cast<double>(layout.column_blocks),
                     y_copied = p.y_taken * static_cast<double>(layout.row_blocks);
        copied = x_copied + y_copied;
        const double copies =
            (x_copied / copy_bytes(s.x_bytes, s.complex) + y_copied / copy_bytes(s.y_bytes, s.complex)) / warp;
        // A pair of neighbors in C comes and goes at once only if it is a word: longer ones are seldom all aligned.
        const bool is_whole = neighbors == 1 || s.c_bytes == 2;
        const double accesses = is_whole ? tile : tile * neighbors, each = is_whole ? neighbors : 1;
        shared = warps * k_steps *
                     (t.tile_m * wavefronts(t.thread_products * s.x_bytes, p.x_for_all) +
                      t.tile_n * wavefronts(t.thread_products * s.y_bytes, p.y_for_all)) +
                 copied / 128 +
                 warps * accesses * wavefronts(t.thread_products * s.c_bytes, false) * (p.accumulates ? 2 : 1);
        const double conversions = ((s.x_bytes == 2 ? t.tile_m : 0) + (s.y_bytes == 2 ? t.tile_n : 0)) * neighbors;
        instructions = warps * (all_steps * (tile * neighbors * p.multiplies() + sides + conversions) +
                                accesses * (access_instructions + each * element_instructions) +
                                count * panel_instructions + 100) +
                       copies * copy_instructions;
        held = shared_bytes(p, layout, t);
        // What is read late has been asked for ahead, as far as the L2 cache, where it does not always stay.
        late = p.accumulates && !(is_whole && p.reads_c_early(t)) ? 1 : 0;
        // What is under way comes at once, the rest of the panels as others leave.
        const auto under_way = static_cast<double>(std::min(held, layout.stage_bytes * (t.stages - 1)));
        alone += std::max(1.0, copied * t.products / blocks / under_way) * load_cycles + late * late_cycles +
                 step_cycles * k_steps + panel_cycles * count + own_issue * instructions * t.products / blocks;
    } else {
        instructions =
            static_cast<double>(s.m * s.n * s.k) * p.multiplies() / warp +
            (static_cast<double>(s.m * s.k + s.k * s.n + s.m * s.n * (p.accumulates ? 2 : 1)) * 4 + 60) / warp;
        alone += load_cycles + own_issue * instructions * t.products;
    }
    const auto resident = static_cast<double>(resident_blocks(p, t, held, chip));
    const auto lost = [&](double bytes) { return 1 + std::pow(bytes / line, loss_power); };
    const double taken =
        (p.x_taken + p.y_taken + c_read * (1 + late)) * lost(read_loss) + c_written * lost(write_loss);
    const double memory = std::max(taken, (copied + p.c_taken) / l2_rate) * p.batches / chip.bandwidth;
    const auto warps = static_cast<std::int64_t>(resident) * t.threads / warp; // four parts of an SM share them
    const double issue =
        issue_rate * instructions * static_cast<double>(up(warps, 4)) / static_cast<double>(warps) * seconds_a_cycle;
    const double latency = alone * blocks / (resident * t.products) * seconds_a_cycle;
    double sum = 0;
    for (const double unit : {memory, shared * seconds_a_cycle, issue, latency}) sum += std::pow(unit, overlap);
    return std::pow(sum, 1 / overlap) * (has_panels(t) ? panels_excess : 1);
}

/// Leaves those that should be the fastest, in their order: of thousands, a tuner measures few.
void drop_slow(std::vector<batched_tile>& tiles, const lane_ring_model& ring, const lanes_product& p,
               const machine& chip) {
    if (tiles.size() <= most_candidates) return;
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t c = 0; c < tiles.size(); ++c) order.emplace_back(seconds_of(ring, p, tiles[c], chip), c);
    std::nth_element(order.begin(), order.begin() + most_candidates, order.end());
    order.resize(most_candidates);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    std::vector<batched_tile> kept;
    for (const auto& one : order) kept.push_back(tiles[one.second]);
    tiles = std::move(kept);
}

} // namespace

bool is_interleaved(const step& st) {
    for (const auto o : {std::int32_t{0}, st.x, st.y}) {
        const auto& stride = st.operands[static_cast<std::size_t>(o)].stride;
        std::int64_t fastest_batch = 0, fastest_other = 0;
        for (std::size_t a = 0; a < stride.size(); ++a) {
            auto& fastest = st.classes[a] == batch ? fastest_batch : fastest_other;
            const auto step = std::abs(stride[a]);
            if (step != 0 && (fastest == 0 || step < fastest)) fastest = step;
        }
        if (fastest_batch == 0 || (fastest_other != 0 && fastest_other < fastest_batch)) return false;
    }
    return true;
}

bool has_neighboring_products(const step& st) {
    const auto batches = axes_of(st, batch);
    if (batches.empty()) return false;
    const auto stride = [&](std::int32_t o) {
        return st.operands[static_cast<std::size_t>(o)].stride[static_cast<std::size_t>(batches.front())];
    };
    const auto is_neighbor_or_shared = [&](std::int32_t o) { return stride(o) == 1 || stride(o) == 0; };
    return stride(0) == 1 && is_neighbor_or_shared(st.x) && is_neighbor_or_shared(st.y);
}

lanes_layout lanes_layout_of(const step& st, const batched_tile& t) { return layout_of(lanes_product(st), t); }

std::int64_t lanes_shared_bytes(const step& st, const batched_tile& t) {
    const lanes_product p(st);
    return shared_bytes(p, layout_of(p, t), t);
}

std::int64_t lanes_resident_blocks(const step& st, const batched_tile& t, const machine& chip) {
    const lanes_product p(st);
    return resident_blocks(p, t, has_panels(t) ? shared_bytes(p, layout_of(p, t), t) : 0, chip);
}

std::int64_t lanes_blocks(const step& st, const batched_tile& t) {
    const auto products = extent_of(st, batch);
    if (!has_panels(t)) return up(products, t.threads);
    const auto layout = lanes_layout_of(st, t);
    const auto length = st.axes[static_cast<std::size_t>(axes_of(st, batch).front())].extent;
    return products / length * up(length, t.products) * layout.row_blocks * layout.column_blocks;
}

std::vector<batched_tile> lanes_candidates(const step& st, const machine& chip) {
    const lanes_product p(st);
    const auto& s = p.s;
    std::vector<batched_tile> out;
    batched_tile whole;
    whole.tile_m = static_cast<std::int32_t>(s.m), whole.tile_n = static_cast<std::int32_t>(s.n),
    whole.k_unrolled = static_cast<std::int32_t>(s.k);
    if (predicted_registers(p, whole) <= most_registers)
        for (const int threads : {64, 128, 256, 512}) {
            if (threads / warp > warps_with(predicted_registers(p, whole))) continue;
            whole.products = whole.threads = threads;
            out.push_back(whole);
        }
    for (const auto& [tm, tn, neighbors] : thread_tiles(p)) {
        batched_tile t;
        t.thread_products = static_cast<std::int32_t>(neighbors);
        t.tile_m = static_cast<std::int32_t>(tm), t.tile_n = static_cast<std::int32_t>(tn), t.stages = 2;
        const auto tile_words = static_cast<double>(tm * tn * neighbors * s.words) * p.multiplies();
        t.k_unrolled = tile_words > 32 ? 2 : s.k <= 8 ? static_cast<std::int32_t>(s.k) : 4;
        const auto row_tiles = up(s.m, tm), column_tiles = up(s.n, tn);
        for (const auto rows : parts_of(row_tiles))
            for (const auto columns : parts_of(column_tiles))
                for (auto products = least_line / p.least_bytes; products * p.least_bytes <= longest_line;
                     products *= 2) {
                    const auto threads = products / neighbors * rows * columns;
                    if (threads > most_threads || threads % warp != 0) continue;
                    const bool is_cut = rows < row_tiles || columns < column_tiles;
                    if (up(row_tiles, rows) + up(column_tiles, columns) > most_parts) continue;
                    if (is_cut && (threads < 128 || products / neighbors * row_tiles * column_tiles <= 128)) continue;
                    t.products = static_cast<std::int32_t>(products), t.threads = static_cast<std::int32_t>(threads);
                    t.panel = static_cast<std::int32_t>(std::min(s.n, columns * tn));
                    const auto registers = predicted_registers(p, t);
                    // Of larger ones of 2-byte elements with an uneven end, one in ten spills.
                    const bool may_spill = p.conversions() > 0 && tm * tn * neighbors > 48 && !is_even(p, t);
                    if (registers > most_registers || threads / warp > warps_with(registers) || may_spill) continue;
                    add_panels(out, p, chip, t);
                }
    }
    const lane_ring_model ring(st, chip);
    for (const auto& t : ring.candidates()) out.push_back(t);
    drop_slow(out, ring, p, chip);
    return out;
}

std::vector<double> lanes_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip) {
    const lanes_product p(st);
    const lane_ring_model ring(st, chip);
    std::vector<double> out;
    for (const auto& t : tiles) out.push_back(seconds_of(ring, p, t, chip));
    return out;
}

} // namespace ricci::lowering
