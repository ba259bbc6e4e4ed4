// chain_shape: how many elements a chain's kernel has at a time, and what it is expected to cost.
#include "lowering/chain_shape.hpp"

#include "lowering/chain_call_work.hpp"
#include "lowering/chain_key.hpp"
#include "lowering/chain_layout.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::lowering {
namespace {

constexpr std::int64_t largest_block = 256, most_rounds = 4;
/// What multiply-adds reach of a GPU's peak beside their loads of shared memory; of a CPU's core (33 of 117 GF/s).
constexpr double gpu_arithmetic = 0.35, cpu_arithmetic = 0.3;
/// The same of a CPU's core where matrices are factored (43 to 50 GF/s of a Xeon's 78: f64, n = 13 to 27, assembled,
/// solved with and applied; 27 for LU of 32, whose matrices leave the L1 cache).
constexpr double cpu_arithmetic_of_calls = 0.55;
/// Of an SM's warps, in calls, which wait for each other's lanes and for shared memory.
constexpr double instructions_of_a_clock = 1.5;

std::int64_t most_items(const chain& c) {
    std::int64_t out = 1;
    for (const auto& ph : c.phases) out = std::max(out, threads_of(ph));
    return out;
}

/// Registers that a thread is expected to need: for its pencils and sums, addresses of slices with gaps and of what
/// tables find, and what is computed beside them, more where the places of shared factors are. (Less, and the
/// compiler spills: f64, p = 4, at 48, with tables at 64; slices with gaps, at 80.)
std::int64_t registers_of_a_thread(const chain& c) {
    constexpr std::int64_t of_gaps = 24, of_tables = 10, of_call = 8;
    const std::int64_t beside = c.constants > 0 ? 26 : 42;
    const auto words = size_of(c.compute) / 4;
    std::int64_t numbers = 0;
    for (const auto& ph : c.phases) {
        std::int64_t of_phase = (is_complex(c.compute) ? 3 : 1) * ph.unrolled; // with the parts of products
        for (const auto& q : ph.pencils) of_phase += q.length;
        if (ph.call) of_phase += of_call;
        numbers = std::max(numbers, of_phase);
    }
    const bool has_gaps = std::ranges::any_of(c.views, [&](const chain_view& v) {
        if (v.where != chain_view::space::memory || !v.tables.empty()) return false;
        const auto& m = c.memories[static_cast<std::size_t>(v.number)];
        return !m.is_span && !is_index(m.type);
    });
    const bool has_tables = std::ranges::any_of(c.views, [](const chain_view& v) { return !v.tables.empty(); });
    const auto addresses = std::max(has_gaps ? of_gaps : 0, has_tables ? of_tables : 0);
    return std::min<std::int64_t>(beside + numbers * words + addresses, 255);
}

/// Those that shared memory, threads and registers allow. An SM's four parts have a quarter of the registers each,
/// and as many warps as the fullest of them has.
std::int32_t blocks_at_once(const chain& c, std::int64_t shared_bytes, const machine& chip) {
    constexpr std::int64_t parts = 4, together = 8; // registers are given out eight at a time
    const auto registers = up(registers_of_a_thread(c), together) * together;
    const auto warps = parts * (registers_of_an_sm / (parts * warp * registers));
    const auto by_registers = warps * warp / c.threads;
    const auto by_shared = shared_of_an_sm(chip) / (shared_bytes + shared_of_a_block);
    const auto blocks = std::min({by_registers, by_shared, threads_of_an_sm / c.threads, blocks_of_an_sm});
    return static_cast<std::int32_t>(std::max<std::int64_t>(blocks, 1));
}

/// What worth() was fitted with.
struct fit {
    double latency;  ///< bytes on their way that hide memory's
    double in_a_row; ///< bytes that hide what a thread computes, each thing
    double to_start; ///< bytes of a block that take as long as starting it
    double together; ///< lost where one block alone comes and goes
    double lanes;    ///< power of the share of lanes that work
    double beside;   ///< lost where blocks leave no shared memory
};
constexpr fit of_spans{30e3, 40, 512, 0.35, 0.3, 0};
/// What tables find comes through the L1 cache, which has what blocks leave of the SM's shared memory.
constexpr fit of_tables{8e3, 50, 350, 0.15, 0.04, 0.02};

/// What a block of this shape is worth, between 0 and 1: how much of the memory's rate it is expected to reach.
/// Fitted to the mass operator on an H100 (f64, 2026-11-25): on element vectors of p = 1 to 10 with 4 to 13 shapes
/// each; gathered, of p = 2 to 8 with 28 to 57, within 1.5 % of the best that registers allow.
double worth(const chain& c, const machine& chip) {
    const bool gathers = std::ranges::any_of(c.views, [](const chain_view& v) { return !v.tables.empty(); });
    const fit& by = gathers ? of_tables : of_spans;
    std::int64_t in_a_row = 0;
    double used = 0, there = 0; // lanes
    for (const auto& ph : c.phases) {
        const auto of_lane = static_cast<std::int64_t>(lane_instructions(ph) / 4);
        const auto each = of_lane + ph.multiply_adds() + ph.point_count(),
                   items = threads_of(ph) * c.elements_of_block;
        in_a_row += each;
        used += static_cast<double>(each * items), there += static_cast<double>(each * up(items, warp) * warp);
    }
    const auto rounds = static_cast<double>(up(most_items(c) * c.elements_of_block, c.threads));
    // What an SM has on its way hides how long it takes: memory's latency, and what a thread computes in a row.
    const double of_block = static_cast<double>(c.elements_of_block) * c.bytes,
                 on_its_way = of_block * c.blocks_of_processor,
                 enough = by.latency + by.in_a_row * static_cast<double>(in_a_row) * rounds;
    // Few blocks come and go at the same time; small ones take as long as larger ones to start.
    const double blocks = c.blocks_of_processor;
    const double taken = gathers ? blocks * static_cast<double>(shared_layout_of(c).bytes + shared_of_a_block) /
                                       static_cast<double>(shared_of_an_sm(chip))
                                 : 0;
    return (1 - std::exp(-on_its_way / enough)) * of_block / (of_block + by.to_start) *
           (1 - by.together / (blocks * blocks)) * std::pow(used / there, by.lanes) * (1 - by.beside * taken * taken);
}

} // namespace

int chain_lanes(const chain& c, const machine& chip) {
    return std::max<int>(1, chip.vector_bytes / static_cast<int>(size_of(real_of(c.compute))));
}

block_bytes least_memory(chain c, const machine& chip) {
    if (chip.kind == target::cpu) return {vector_layout_of(c, chain_lanes(c, chip), chip).bytes, chip.l2_bytes};
    c.elements_of_block = 1;
    return {shared_layout_of(c).bytes, chip.shared_bytes};
}

batched_tile tile_of(const chain& c) {
    batched_tile out;
    out.products = c.elements_of_block, out.threads = c.threads, out.stages = c.blocks_of_processor;
    return out;
}

void set_tile(chain& c, const batched_tile& t) {
    c.elements_of_block = t.products, c.threads = t.threads, c.blocks_of_processor = t.stages;
}

namespace {

/// Blocks of each size, with as many of an SM as registers are expected to allow.
std::vector<batched_tile> expected_tiles(const chain& given, const machine& chip) {
    std::vector<batched_tile> out;
    auto c = given;
    const auto items = most_items(c);
    for (std::int64_t threads = warp; threads <= largest_block; threads += warp)
        for (std::int64_t rounds = 1, last = 0; rounds <= most_rounds; ++rounds) {
            c.elements_of_block = static_cast<std::int32_t>(std::max<std::int64_t>(threads * rounds / items, 1));
            if (c.elements_of_block == last) continue;
            last = c.elements_of_block;
            c.threads = static_cast<std::int32_t>(threads);
            const auto bytes = shared_layout_of(c).bytes;
            if (bytes > chip.shared_bytes) break;
            c.blocks_of_processor = blocks_at_once(c, bytes, chip);
            out.push_back(tile_of(c));
        }
    return out;
}

} // namespace

std::vector<batched_tile> chain_tiles(const chain& given, const machine& chip) {
    std::vector<batched_tile> out;
    if (chip.kind == target::cpu) return out;
    auto c = given;
    for (const auto& expected : expected_tiles(given, chip))
        for (const int more : {0, -1, 1}) {
            auto t = expected;
            t.stages += more;
            set_tile(c, t);
            const auto held = t.stages * (shared_layout_of(c).bytes + shared_of_a_block);
            if (t.stages > 0 && t.stages <= blocks_of_an_sm && t.stages * t.threads <= threads_of_an_sm &&
                held <= shared_of_an_sm(chip))
                out.push_back(t);
        }
    return out;
}

std::vector<double> chain_tile_seconds(const chain& given, const std::vector<batched_tile>& tiles,
                                       const machine& chip) {
    std::vector<double> out;
    auto c = given;
    for (const auto& t : tiles) {
        set_tile(c, t);
        out.push_back(chain_seconds(c, chip) / worth(c, chip));
    }
    return out;
}

std::optional<tile_origin> choose_chain_shape(chain& c, const machine& chip, const priors& known) {
    // As many sums at once as hide what a multiply-add takes.
    const std::int64_t most = chip.kind == target::cpu ? 8 : 4;
    for (auto& ph : c.phases) {
        const auto points = ph.point_count();
        ph.unrolled = static_cast<std::int32_t>(up(points, up(points, most)));
    }
    const auto least = least_memory(c, chip);
    if (least.bytes > least.most) return {};
    if (chip.kind == target::cpu) return tile_origin::model;
    const auto key = key_of(c);
    for (const auto* table : {known.measured, known.shipped}) {
        const auto* const found = table == nullptr ? nullptr : table->find(key);
        if (found == nullptr) continue;
        const auto tiles = chain_tiles(c, chip);
        if (std::ranges::find(tiles, found->tile) == tiles.end()) continue;
        set_tile(c, found->tile);
        return table == known.measured ? tile_origin::measured : tile_origin::shipped;
    }
    double best = 0;
    batched_tile chosen;
    for (const auto& t : expected_tiles(c, chip)) {
        set_tile(c, t);
        if (const auto w = worth(c, chip); w > best) best = w, chosen = t;
    }
    set_tile(c, chosen);
    return tile_origin::model;
}

double chain_seconds(const chain& c, const machine& chip) {
    const auto elements = static_cast<double>(c.elements);
    const double peak = real_of(c.compute) == scalar_type::f64 ? chip.flops_f64 : chip.flops_f32;
    const bool has_calls = std::ranges::any_of(c.phases, [](const chain_phase& ph) { return ph.call.has_value(); });
    const double part = chip.kind == target::cuda ? gpu_arithmetic
                        : has_calls               ? cpu_arithmetic_of_calls
                                                  : cpu_arithmetic;
    const double at_once = chip.kind == target::cuda ? c.elements_of_block : chain_lanes(c, chip);
    const double blocks = std::ceil(elements / at_once), busy = std::min(1.0, blocks / chip.processors);
    const double instructions = chip.kind == target::cuda ? warp_instructions(c) : 0, // of matrices' calls
        by_issue = elements * instructions / (instructions_of_a_clock * sm_clock(chip) * chip.processors);
    return std::max(elements * c.bytes / chip.bandwidth, elements * c.flops / (part * peak) + by_issue) / busy +
           chip.launch_seconds;
}

} // namespace ricci::lowering
