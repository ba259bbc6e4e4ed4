// substitute_block: parameters of the kernel that solves with factors by a block a matrix: how many threads it has,
// of which there are few where blocks enough fill the chip.
#include "lowering/substitute_block.hpp"

#include "lowering/priced_tile.hpp"
#include "lowering/substitute_work.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ricci::lowering {
namespace {

constexpr std::int64_t triangle_panel = 32;    ///< kernels/substitute_block.cuh's
constexpr std::int64_t sides_bytes = 64 << 10; ///< right-hand sides of a streamed matrix, at most, where several

std::int64_t sides_at(const substitute_work& w) { return 16 + triangle_panel * (triangle_panel + 1) * w.size; }

std::int64_t shared_bytes(const substitute_work& w, const batched_tile& t) {
    if (t.stages == 0) return sides_at(w);
    return sides_at(w) + w.work_rows * t.tile_n * w.size + (w.has_pivots ? 4 * w.sizes.n : 0);
}

/// Of so many matrices, a block each. Its constants were fitted to 350 measurements of 36 to 600 rows on an H200, of
/// which they are off by 22 % on average; the first candidate is 0.8 % slower than the best on average, and 15 % at
/// most.
double seconds_of(const substitute_work& w, const batched_tile& t, double matrices, const machine& chip) {
    // cycles that a block waits: for a panel of a triangle, what a thread does behind it, a panel of reflectors
    constexpr double of_panel = 1700, of_turn = 6100, of_elements = 310, of_element_and_side = 40;
    constexpr double of_reflectors = 5000, of_their_rows = 1040;
    constexpr double of_words = 0.22; // cycles of an SM
    const auto n = static_cast<double>(w.sizes.n), m = static_cast<double>(w.sizes.m),
               tiles = static_cast<double>(w.tiles(t.tile_n)), sides = static_cast<double>(t.tile_n),
               threads = static_cast<double>(t.threads);
    double triangles = w.solves ? 1 : 0;
    if (w.method == matrix_method::lu || w.method == matrix_method::cholesky) triangles = 2;
    const auto panels = triangles * static_cast<double>(up(w.sizes.n, triangle_panel)),
               elements = triangles * n * n / 2;
    const auto turns = std::ceil(sides * warp / threads); // of a warp a side
    auto waited =
        panels * (of_panel + of_turn * turns) + elements * (of_elements + of_element_and_side * sides) / threads;
    auto read = elements;
    if (w.applies_q) {
        const auto k = static_cast<double>(w.reflectors), rows = std::max(m - k / 2, 0.0);
        waited += static_cast<double>(up(w.reflectors, w.parts == 2 ? 4 : 8)) *
                  (of_reflectors + of_their_rows * rows / threads);
        read += 2 * m * n;
    }
    const double registers = w.applies_q ? 96 : 36 + 4 * sides; // of a thread, as NVRTC 13.0 has it
    const auto room = std::clamp(std::min({static_cast<double>(shared_of_an_sm(chip)) /
                                               static_cast<double>(shared_bytes(w, t) + shared_of_a_block),
                                           threads_of_an_sm / threads, registers_of_an_sm / (registers * threads)}),
                                 1.0, static_cast<double>(blocks_of_an_sm));
    const auto taken = of_words * read * static_cast<double>(w.size) / 4;
    return w.seconds(matrices, 1, room, tiles * taken, tiles * waited, chip);
}

} // namespace

std::int64_t substitute_block_shared_bytes(const step& st, const batched_tile& t) {
    return shared_bytes(substitute_work(st), t);
}

double substitute_block_seconds(const step& st, const batched_tile& t, const machine& chip) {
    const substitute_work w(st);
    return seconds_of(w, t, static_cast<double>(w.sizes.matrices), chip);
}

std::vector<batched_tile> substitute_block_candidates(const step& st, const machine& chip) {
    const substitute_work w(st);
    if (st.dynamic_extents) {
        if (sides_at(w) > chip.shared_bytes) return {};
        return {substitute_tile(1, 256, 256, 2, 0, false)};
    }
    const std::int64_t most = w.applies_q ? 2 : w.parts == 2 ? 4 : 8;
    auto sides = power_of_two_to(std::min(std::max<std::int64_t>(w.sizes.r, 1), most));
    const auto tile = [&](std::int64_t threads, int stages) {
        return substitute_tile(1, threads, threads, sides, stages, false);
    };
    while (sides > 1 && shared_bytes(w, tile(64, 1)) > std::min(chip.shared_bytes, sides_bytes)) sides /= 2;
    const int stages = shared_bytes(w, tile(64, 1)) <= chip.shared_bytes ? 1 : 0;
    const auto matrices = rated_matrices(w.sizes.matrices, chip);
    std::vector<priced_tile> all;
    for (const std::int64_t threads : {64, 128, 256})
        all.push_back({tile(threads, stages), seconds_of(w, tile(threads, stages), matrices, chip)});
    return cheapest_first(std::move(all));
}

} // namespace ricci::lowering
