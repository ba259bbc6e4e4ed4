// substitute_layout: parameters of the kernels that solve with factors: those of a GPU where a thread has a matrix, a
// CPU's, and in which order all of them are.
#include "lowering/substitute_layout.hpp"

#include "lowering/substitute_block.hpp"
#include "lowering/substitute_lanes.hpp"
#include "lowering/substitute_work.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

constexpr std::int64_t scratch_bytes = 16 << 20, scratch_reals_of_any = (4 << 20) / 8; ///< of a CPU's thread

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

/// Of batches that fill the chip. Factors: measured, H200, 4 to 32 rows.
double seconds_by_threads(const substitute_work& w, const batched_tile& t, const machine& chip) {
    const auto again = static_cast<double>(w.sizes.m * w.sizes.n * w.size * (w.tiles(t.tile_n) - 1));
    return static_cast<double>(w.sizes.matrices) * (w.bytes_moved() + again) / chip.bandwidth *
           (t.stages == 0 ? 1.2 : 1.8);
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
    // A thread reads its matrix again for each tile of right-hand sides: of 8 tiles lanes take 0.2 to 0.7 of its time
    // (H200, 4 to 32 rows), of two its is 0.75 to 0.95 of theirs.
    const bool lanes_first = !out.empty() && w.tiles(out.front().tile_n) > 2;
    out.insert(lanes_first ? out.begin() : out.end(), lanes.begin(), lanes.end());
    // where both can, no block was more than 6 % faster than the fastest lanes (H200, 36 to 66 rows)
    if (out.empty() || w.work_rows > 32) {
        const auto blocks = substitute_block_candidates(st, chip);
        out.insert(out.end(), blocks.begin(), blocks.end());
    }
    return out;
}

std::int64_t substitute_shared_bytes(const step& st, const batched_tile& t, const machine& chip) {
    if (chip.kind == target::cpu) return 0;
    const substitute_work w(st);
    if (is_by_threads(t)) return t.stages == 0 ? 0 : w.work_rows * t.tile_n * w.size * t.threads;
    if (t.tile_m <= warp) return substitute_lanes_shared_bytes(st, t);
    return substitute_block_shared_bytes(st, t);
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
    return t.tile_m <= warp ? substitute_lanes_seconds(st, t, chip) : substitute_block_seconds(st, t, chip);
}

} // namespace ricci::lowering
