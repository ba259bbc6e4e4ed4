// substitute_layout: parameters of the kernels that solve with factors: those of a GPU where a thread or a block has
// a matrix, and a CPU's.
#include "lowering/substitute_layout.hpp"

#include "lowering/substitute_lanes.hpp"
#include "lowering/substitute_work.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ricci::lowering {
namespace {

constexpr std::int64_t triangle_panel = 32; ///< kernels/substitute_block.cuh's
constexpr std::int64_t sides_of_block_bytes =
    64 << 10; ///< right-hand sides of a streamed matrix, at most, where several
constexpr std::int64_t scratch_bytes = 16 << 20, scratch_reals_of_any = (4 << 20) / 8; ///< of a CPU's thread

std::int64_t sides_at(const substitute_work& w) { return 16 + triangle_panel * (triangle_panel + 1) * w.size; }

// ---- CUDA ----

/// Whether a thread has a matrix where it lies, not in shared memory.
bool is_by_threads(const batched_tile& t) { return t.tile_m == 1 && !t.boxed; }

/// A thread a matrix.
void add_threads(std::vector<batched_tile>& out, const step& st, const substitute_work& w, const machine& chip) {
    if (st.dynamic_extents || !w.is_interleaved()) return;
    const auto words = w.size / 4;
    const std::int64_t sides = w.sizes.r > 1 ? 2 : 1;
    if (w.work_rows * w.sizes.n * w.parts <= 64)
        return out.push_back(substitute_tile(128, 128, 1, w.work_rows * sides * words <= 48 ? sides : 1, 0, false));
    for (const std::int64_t threads : {128, 64, 32})
        for (auto s = sides; s > 0; --s)
            if (w.work_rows * s * w.size * threads <= std::min<std::int64_t>(chip.shared_bytes, 64 << 10))
                return out.push_back(substitute_tile(threads, threads, 1, s, 1, false));
    if (w.work_rows * w.size * 32 <= chip.shared_bytes) out.push_back(substitute_tile(32, 32, 1, 1, 1, false));
}

/// Of all matrices. A batch that is too small for the chip is not looked at: the fastest lanes are 1.5 to 6 times as
/// fast where a thread has more than two tiles of right-hand sides (H200, 4 to 32 rows).
double seconds_by_threads(const substitute_work& w, const batched_tile& t, const machine& chip) {
    const auto again = static_cast<double>(w.sizes.m * w.sizes.n * w.size * (w.tiles(t.tile_n) - 1));
    return static_cast<double>(w.sizes.matrices) * (w.bytes_moved() + again) / chip.bandwidth *
           (t.stages == 0 ? 1.2 : 1.8);
}

std::int64_t block_bytes(const substitute_work& w, const batched_tile& t) {
    if (t.stages == 0) return sides_at(w);
    return sides_at(w) + w.work_rows * t.tile_n * w.size + (w.has_pivots ? 4 * w.sizes.n : 0);
}

/// Of so many matrices, a block each. Fitted to 240 measurements of 36 to 200 rows on an H200, of which it is off by
/// 20 % on average; the first of its candidates is 1.5 % slower than the best on average, and 19 % at most.
double seconds_by_blocks(const substitute_work& w, const batched_tile& t, double matrices, const machine& chip) {
    constexpr double of_panel = 5800, of_panel_and_side = 1600, of_elements = 380; // cycles of a triangle's
    constexpr double of_reflectors = 3300, of_their_sums = 13;                     // of a panel of reflectors
    constexpr double of_words = 0.26;                                              // of an SM
    const auto n = static_cast<double>(w.sizes.n), m = static_cast<double>(w.sizes.m),
               tiles = static_cast<double>(w.tiles(t.tile_n)), sides = static_cast<double>(t.tile_n),
               threads = static_cast<double>(t.threads);
    const double triangles = !w.solves                                                              ? 0
                             : w.method == matrix_method::lu || w.method == matrix_method::cholesky ? 2
                                                                                                    : 1;
    const auto panels = triangles * static_cast<double>(up(w.sizes.n, triangle_panel)),
               elements = triangles * n * n / 2;
    const auto side_turns = std::ceil(sides * warp / threads);
    auto waited = panels * (of_panel + of_panel_and_side * side_turns) + elements * of_elements * sides / threads;
    auto read = elements;
    if (w.applies_q) {
        waited +=
            static_cast<double>(up(w.reflectors, w.parts == 2 ? 4 : 8)) * (of_reflectors + of_their_sums * threads);
        read += 2 * m * n;
    }
    const double registers = w.applies_q ? 96 : 40; // of a thread, as NVRTC 13.0 has it
    const auto room = std::clamp(std::min({static_cast<double>(shared_of_an_sm(chip)) /
                                               static_cast<double>(block_bytes(w, t) + shared_of_a_block),
                                           threads_of_an_sm / threads, registers_of_an_sm / (registers * threads)}),
                                 1.0, static_cast<double>(blocks_of_an_sm));
    if (matrices == 0) return 0;
    const auto blocks = matrices / chip.processors; // of an SM
    const auto cycles = tiles * std::hypot(std::max(blocks / room, 1.0) * waited,
                                           std::max(blocks, 1.0) * of_words * read * static_cast<double>(w.size) / 4);
    return std::hypot(matrices * w.bytes_moved() / chip.bandwidth, cycles / sm_clock(chip));
}

void add_blocks(std::vector<batched_tile>& out, const step& st, const substitute_work& w, const machine& chip) {
    const std::int64_t most = w.applies_q ? 2 : w.parts == 2 ? 4 : 8;
    auto sides = power_of_two_to(std::min(std::max<std::int64_t>(w.sizes.r, 1), most));
    if (st.dynamic_extents) {
        if (sides_at(w) <= chip.shared_bytes) out.push_back(substitute_tile(1, 256, 256, 2, 0, false));
        return;
    }
    const auto tile = [&](std::int64_t threads, int stages) {
        return substitute_tile(1, threads, threads, sides, stages, false);
    };
    while (sides > 1 && block_bytes(w, tile(64, 1)) > std::min(chip.shared_bytes, sides_of_block_bytes)) sides /= 2;
    const int stages = block_bytes(w, tile(64, 1)) <= chip.shared_bytes ? 1 : 0;
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    for (const std::int64_t threads : {64, 128, 256}) out.push_back(tile(threads, stages));
    const auto matrices = rated_matrices(w.sizes.matrices, chip);
    std::stable_sort(out.begin() + begin, out.end(), [&](const batched_tile& x, const batched_tile& y) {
        return seconds_by_blocks(w, x, matrices, chip) < seconds_by_blocks(w, y, matrices, chip);
    });
}

// ---- CPU ----

/// Matrices a work item: of some thousand elements.
std::int64_t products_of_item(const substitute_work& w) {
    const auto elements = std::max<std::int64_t>(w.sizes.m * w.sizes.n + 2 * w.work_rows * w.sizes.r, 1);
    return std::clamp<std::int64_t>(4096 / elements, 1, 64);
}

std::vector<batched_tile> candidates_on_cpu(const step& st, const substitute_work& w, const machine& chip) {
    std::vector<batched_tile> out;
    const auto lanes = std::max<std::int64_t>(chip.vector_bytes / w.real_size, 1), r = w.sizes.r;
    if (!st.dynamic_extents && w.is_interleaved())
        for (const std::int64_t sides : {r > 1 ? 2 : 1, 1})
            if (w.work_rows * sides * w.parts * chip.vector_bytes <= scratch_bytes) {
                out.push_back(substitute_tile(up(products_of_item(w), lanes) * lanes, 1, 1, sides, 0, false));
                break;
            }
    // as even as can be; of any number, few: one column takes as long as all
    const auto tiles = up(std::max<std::int64_t>(r, 1), 4);
    for (const std::int64_t sides :
         {st.dynamic_extents ? 2 : up(std::max<std::int64_t>(r, 1), tiles), std::int64_t{1}}) {
        const auto rows = up(w.work_rows, lanes) * lanes;
        const auto reals = rows * w.parts * sides + w.sizes.n * (w.parts + 1);
        if (st.dynamic_extents ? reals > scratch_reals_of_any : reals * w.real_size > scratch_bytes) continue;
        out.push_back(substitute_tile(products_of_item(w), 1, 2, sides, 0, false));
        break;
    }
    return out;
}

double elements_read(const substitute_work& w) {
    const auto all = static_cast<double>(w.sizes.m) * static_cast<double>(w.sizes.n);
    return w.method == matrix_method::triangular ? all / 2 : all;
}
double seconds_on_cpu(const substitute_work& w, const batched_tile& t, const machine& chip) {
    const auto lanes = std::max(chip.vector_bytes / static_cast<double>(w.real_size), 1.0);
    const auto clock = chip.flops_f64 / (4.0 * std::max(chip.vector_bytes / 8.0, 1.0) * chip.processors);
    const auto parts = static_cast<double>(w.parts),
               sides = static_cast<double>(std::max<std::int64_t>(w.sizes.r, 1));
    const auto products = elements_read(w) * parts * parts * sides;
    // measured with AVX-512, f64, one side, n = 8 to 32, on a shared machine of nominally 2.6 GHz: 9 to 15 cycles a
    // step
    double cycles = 40 + 12 * w.steps() * std::max(sides / t.tile_n, 1.0) + 0.75 * products / lanes;
    if (t.tile_m == 1) cycles = 10 + 1.5 * products / lanes + 2 * static_cast<double>(w.work_rows) * sides;
    const auto matrices = static_cast<double>(w.sizes.matrices);
    return matrices * std::max(cycles / (clock * chip.processors), w.bytes_moved() / chip.bandwidth);
}

} // namespace

std::vector<batched_tile> substitute_candidates(const step& st, const machine& chip) {
    const substitute_work w(st);
    if (chip.kind == target::cpu) return candidates_on_cpu(st, w, chip);
    std::vector<batched_tile> out;
    const auto lanes = substitute_lanes_candidates(st, chip);
    add_threads(out, st, w, chip);
    // a thread reads its matrix again for each tile of right-hand sides
    const bool lanes_first = !out.empty() && w.tiles(out.front().tile_n) > 2;
    out.insert(lanes_first ? out.begin() : out.end(), lanes.begin(), lanes.end());
    // where both can, no block was more than 6 % faster than the fastest lanes (H200, 36 to 66 rows)
    if (out.empty() || w.work_rows > 32) add_blocks(out, st, w, chip);
    return out;
}

std::int64_t substitute_shared_bytes(const step& st, const batched_tile& t, const machine& chip) {
    if (chip.kind == target::cpu) return 0;
    const substitute_work w(st);
    if (is_by_threads(t)) return t.stages == 0 ? 0 : w.work_rows * t.tile_n * w.size * t.threads;
    if (t.tile_m <= warp) return substitute_lanes_shared_bytes(st, t, chip);
    return block_bytes(w, t);
}

std::int64_t substitute_workspace_bytes(const step& st, const batched_tile& t, const machine& chip) {
    const substitute_work w(st);
    if (chip.kind == target::cpu || t.tile_m <= warp || t.stages != 0) return 0;
    return w.work_rows == w.solution_rows ? 0 : w.sizes.matrices * w.work_rows * w.sizes.r * w.size;
}

double substitute_seconds(const step& st, const batched_tile& t, const machine& chip) {
    const substitute_work w(st);
    if (chip.kind == target::cpu) return seconds_on_cpu(w, t, chip);
    if (is_by_threads(t)) return seconds_by_threads(w, t, chip);
    return t.tile_m <= warp ? substitute_lanes_seconds(st, t, chip)
                            : seconds_by_blocks(w, t, static_cast<double>(w.sizes.matrices), chip);
}

} // namespace ricci::lowering
