// substitute_lanes: parameters of the kernel that solves with factors by lanes of a warp. Its aim is the memory's
// bandwidth: as many bytes under way as an SM needs, while few enough lanes share a matrix that what they tell each
// other does not count.
#include "lowering/substitute_lanes.hpp"

#include "lowering/priced_tile.hpp"
#include "lowering/substitute_work.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace ricci::lowering {
namespace {

constexpr std::int64_t block_bytes = 24 << 10; ///< of a block's matrices in shared memory, at most, where several
constexpr std::int64_t largest_in_shared = 36 << 10;       ///< one matrix: six an SM; beyond that they are streamed
constexpr std::int64_t longest_in_lanes = 256;             ///< rows
constexpr std::int64_t most_lines = 8, most_threads = 128; ///< of a lane, in registers; of a block
std::int64_t shared_bytes(const substitute_work& w, std::int64_t products, std::int64_t lanes, bool in_slabs) {
    const auto slot = w.slot_of(in_slabs, lanes);
    return up(16 + 8 * products, 128) * 128 + products * slot * w.size + (in_slabs ? 128 : 0);
}

/// Accesses of shared memory that one of a warp takes, of whose lanes `lanes` read `step` elements apart in a matrix,
/// and the next ones in the next, `slot` elements on: of what is read at once, the most that are of one bank's word.
double conflicts(std::int64_t lanes, std::int64_t step, std::int64_t slot, std::int64_t size) {
    const auto at_once = std::min<std::int64_t>(128 / size, warp);
    double sum = 0;
    for (std::int64_t begin = 0; begin < warp; begin += at_once) {
        std::int64_t most = 1;
        for (std::int64_t a = begin; a < begin + at_once; ++a) {
            std::int64_t same = 0;
            for (std::int64_t b = begin; b < begin + at_once; ++b) {
                const auto difference = (b / lanes - a / lanes) * slot + (b % lanes - a % lanes) * step;
                same += difference * size % 128 == 0 && (difference != 0 || a == b) ? 1 : 0;
            }
            most = std::max(most, same);
        }
        sum += static_cast<double>(most);
    }
    return sum / static_cast<double>(warp / at_once);
}

// An SM's cycles for a warp's reading of shared memory, shuffle and so on; and those that a block waits
constexpr double of_reading = 0.75, of_telling = 0.65, of_pivots = 1.7, of_lines = 2.1, of_copying = 5.4;
constexpr double of_round = 22, of_round_lines = 9;
constexpr double wait_of_round = 1600, wait_of_step = 92, wait_of_reading = 3.4, wait_of_copying = 60;

/// How lanes read a matrix in shared memory, and what they tell each other.
struct passes {
    double steps = 0, told = 0; ///< one after the other; of these what goes from a lane to the others, one of two
    double accesses = 1;        ///< of shared memory, that one of a warp takes

    passes(const substitute_work& w, const batched_tile& t) : steps(w.steps()) {
        auto row = w.row, column = w.column;
        if (!t.boxed)
            row = w.columns_contiguous() ? 1 : w.sizes.n | 1, column = w.columns_contiguous() ? w.sizes.m : 1;
        accesses =
            conflicts(t.tile_m, std::min(std::abs(row), std::abs(column)), w.slot_of(t.boxed, t.tile_m), w.size);
        if (t.tile_m == 1) return;
        // as the kernel has it: a pass whose lanes would meet on banks goes by dots, each of which is a sum over
        // lanes
        const auto meets = [&](std::int64_t step) {
            return t.tile_m > 2 && std::abs(step) != 1 && step * w.size % 16 == 0 && step % 2 == 0;
        };
        const auto n = static_cast<double>(w.sizes.n), sum = std::log2(t.tile_m);
        const double down = meets(row) && !meets(column) ? sum : 1, across = meets(column) && !meets(row) ? sum : 1;
        told = 2 * n * (w.of_adjoint ? across : down);
        if (w.applies_q) told = static_cast<double>(w.reflectors) * (1 + sum) + (w.solves ? n * down : 0);
        if (w.method == matrix_method::triangular) told = n * down;
        if (w.method == matrix_method::cholesky) told = n * (down + across);
    }
};

/// For so many matrices, without the start of a kernel. Its constants were fitted to 2180 measurements of 2 to 64
/// rows on an H200, of which they are off by 15 % on average; of 297 problems measured there the first candidate
/// is 1.6 % slower than the best on average, and 33 % at most (Cholesky, 64 rows, 16 sides).
double seconds_of(const substitute_work& w, const batched_tile& t, double matrices, const machine& chip) {
    const passes p(w, t);
    const auto lanes = static_cast<double>(t.tile_m), sides = static_cast<double>(t.tile_n),
               tiles = static_cast<double>(w.tiles(t.tile_n)), lines = static_cast<double>(up(w.work_rows, t.tile_m)),
               words = static_cast<double>(w.size) / 4, products = static_cast<double>(t.products),
               threads = static_cast<double>(t.threads);
    const auto rounds = std::max(1.0, std::ceil(products * tiles * lanes / threads));
    // by the block's threads: elements one by one, or a slab's units of 16 bytes
    const auto elements = static_cast<double>(w.sizes.m * w.sizes.n);
    auto copied = products * elements * static_cast<double>(w.parts);
    if (t.boxed) copied = has_bulk_copies(chip) ? 0 : products * elements * static_cast<double>(w.size) / 16;
    // lines of 128 bytes that right-hand sides and solutions of a warp lie on
    const auto apart = static_cast<double>(w.sizes.n * w.sizes.r * w.size) / 128;
    const auto touched = std::max(words / 32 * lanes, warp / lanes * std::min(1.0, apart));
    const auto of_warp = of_reading * p.accesses * p.steps * words * (lines + 1) / 2 +
                         of_telling * p.told * words * sides + of_lines * touched * lines * sides +
                         (w.has_pivots ? of_pivots * static_cast<double>(w.sizes.n) * lines : 0) + of_round +
                         of_round_lines * lines;
    const auto taken = rounds * threads / warp * of_warp + of_copying * copied / warp;
    const auto waited = rounds * (wait_of_round + (wait_of_step + wait_of_reading * p.accesses * lines) * p.steps) +
                        wait_of_copying * std::ceil(copied / threads);
    const auto room =
        std::min({static_cast<double>(shared_of_an_sm(chip)) /
                      static_cast<double>(shared_bytes(w, t.products, t.tile_m, t.boxed) + shared_of_a_block),
                  static_cast<double>(blocks_of_an_sm), threads_of_an_sm / threads});
    return w.seconds(matrices, products, std::max(room, 1.0), taken, waited, chip);
}

} // namespace

std::int64_t substitute_lanes_shared_bytes(const step& st, const batched_tile& t) {
    return shared_bytes(substitute_work(st), t.products, t.tile_m, t.boxed);
}

double substitute_lanes_seconds(const step& st, const batched_tile& t, const machine& chip) {
    const substitute_work w(st);
    return seconds_of(w, t, static_cast<double>(w.sizes.matrices), chip);
}

// Each round waits for memory anew, and a batch of few matrices is under way at once: blocks of one round or two, but
// for matrices whose right-hand sides alone take more.
std::vector<batched_tile> substitute_lanes_candidates(const step& st, const machine& chip) {
    const substitute_work w(st);
    if (st.dynamic_extents || w.work_rows > longest_in_lanes || w.sizes.m * w.sizes.n * w.size > largest_in_shared)
        return {};
    const auto matrices = rated_matrices(w.sizes.matrices, chip);
    std::vector<priced_tile> found;
    const auto add = [&](std::int64_t lanes, std::int64_t rounds, bool in_slabs) {
        const auto bytes = w.slot_of(in_slabs, lanes) * w.size, lines = up(w.work_rows, lanes),
                   registers = lines * (w.size / 4);
        if (lines > most_lines || (lanes > 2 && lanes >= 4 * w.work_rows)) return;
        std::int64_t sides =
            power_of_two_to(std::min<std::int64_t>(std::max<std::int64_t>(w.sizes.r, 1), w.parts == 2 ? 2 : 4));
        while (sides > 1 && registers * sides > 32) sides /= 2;
        const auto tiles = w.tiles(sides),
                   products = std::min(power_of_two_to(rounds * most_threads / (lanes * tiles)),
                                       power_of_two_to(block_bytes / bytes));
        if (shared_bytes(w, products, lanes, in_slabs) > chip.shared_bytes) return;
        const auto threads = std::clamp<std::int64_t>(up(products * tiles * lanes, warp) * warp, warp, most_threads);
        const auto t = substitute_tile(products, threads, lanes, sides, 0, in_slabs);
        if (std::none_of(found.begin(), found.end(), [&](const priced_tile& c) { return c.tile == t; }))
            found.push_back({t, seconds_of(w, t, matrices, chip)});
    };
    const bool has_slabs = w.slot() > 0;
    // of what lies in slabs one by one too where neighbors meet on banks, which are a multiple of 128 bytes apart
    for (const bool in_slabs : {true, false}) {
        if (in_slabs ? !has_slabs : has_slabs && w.slot() * w.size % 128 != 0) continue;
        for (std::int64_t lanes = in_slabs ? 1 : 2; lanes <= warp; lanes *= 2)
            for (const std::int64_t rounds : {1, 2}) add(lanes, rounds, in_slabs);
    }
    return cheapest_first(std::move(found));
}

} // namespace ricci::lowering
