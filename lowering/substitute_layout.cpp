// substitute_layout: parameters of the kernels that solve with factors. A GPU's aim is its memory's bandwidth: as
// many bytes under way as an SM needs, in blocks of some 16 KB, while few enough lanes share a matrix that their
// shuffles do not count.
#include "lowering/substitute_layout.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cstdlib>

namespace ricci::lowering {
namespace {

constexpr std::int64_t block_bytes = 24 << 10; ///< of a block's matrices in shared memory, at most, where several
constexpr std::int64_t largest_in_shared = 36 << 10; ///< one matrix: six an SM; beyond that they are streamed
constexpr std::int64_t longest_in_lanes = 256;       ///< rows
constexpr std::int64_t triangle_panel = 32;          ///< kernels/substitute_block.cuh's
constexpr std::int64_t sides_of_block_bytes =
    64 << 10; ///< right-hand sides of a streamed matrix, at most, where several
constexpr std::int64_t scratch_bytes = 16 << 20, scratch_reals_of_any = (4 << 20) / 8; ///< of a CPU's thread

/// What the kernels know of a step.
struct work {
    matrix_sizes sizes;
    matrix_method method = matrix_method::cholesky;
    std::int64_t size = 8, parts = 1, real_size = 8; ///< bytes of an element, reals of it, bytes of these
    std::int64_t work_rows = 0, solution_rows = 0, reflectors = 0;
    bool applies_q = false, solves = false, has_pivots = false, of_adjoint = false;
    std::int64_t row = 0, column = 0, batch = 0; ///< steps of the matrix; of the batch's only or first axis
    std::int64_t neighbors = 1;                  ///< extent of that axis
    std::int64_t distance = 0;                   ///< from matrix to matrix in a span

    explicit work(const step& st) : sizes(matrix_sizes_of(st)), method(st.matrices.method) {
        using enum matrix_method;
        size = size_of(st.compute), parts = is_complex(st.compute) ? 2 : 1, real_size = size / parts;
        applies_q = method == qr || method == apply_q || method == apply_qh || method == form_q;
        solves = method <= triangular, has_pivots = method == lu, of_adjoint = st.matrices.adjoint;
        work_rows = applies_q ? sizes.m : sizes.n, solution_rows = solves ? sizes.n : sizes.m;
        reflectors = std::min(sizes.m, sizes.n);
        const auto* const o = operand_in(st, matrix_role::matrix);
        const auto along = [&](std::int32_t axis) {
            return o == nullptr || axis < 0 ? 0 : o->stride[static_cast<std::size_t>(axis)];
        };
        row = along(st.matrices.row), column = along(st.matrices.column);
        const auto axes = batch_of_matrices(st);
        distance = distance_in_span(st);
        if (!axes.empty()) batch = along(axes[0]), neighbors = st.axes[static_cast<std::size_t>(axes[0])].extent;
    }

    std::int64_t tiles(std::int64_t sides) const { return up(std::max<std::int64_t>(sizes.r, 1), sides); }
    bool columns_contiguous() const { return std::abs(row) <= std::abs(column); }
    bool is_interleaved() const { return batch == 1 && neighbors >= 16; }
    /// Elements from one matrix to the next in a slab, as kernels/substitute_lanes.cuh has them; 0: there is none.
    std::int64_t slot() const {
        // rows apart by an even number of elements would lie on the same banks
        if (!columns_contiguous() && row % 2 == 0 && sizes.m > 2) return 0;
        return 4 * distance <= 5 * sizes.m * sizes.n ? distance : 0;
    }
    /// Elements of a matrix in shared memory.
    std::int64_t slot_of(bool in_slabs, std::int64_t lanes) const {
        if (in_slabs) return slot();
        const auto packed = columns_contiguous() ? sizes.m * sizes.n : (sizes.n | 1) * sizes.m, line = 128 / size;
        return packed + ((lanes - packed) % line + line) % line;
    }
};

std::int64_t power_of_two_to(std::int64_t n) { return n < 2 ? 1 : 2 * power_of_two_to(n / 2); }

std::int64_t sides_at(const work& w) { return 16 + triangle_panel * (triangle_panel + 1) * w.size; }

batched_tile tile_of(std::int64_t products, std::int64_t threads, std::int64_t lanes, std::int64_t sides, int stages,
                     bool boxed) {
    batched_tile t;
    t.products = static_cast<std::int32_t>(products), t.threads = static_cast<std::int32_t>(threads);
    t.tile_m = static_cast<std::int32_t>(lanes), t.tile_n = static_cast<std::int32_t>(sides);
    t.stages = stages, t.boxed = boxed;
    return t;
}

// ---- CUDA ----

/// Whether a thread has a matrix where it lies, not in shared memory.
bool is_by_threads(const batched_tile& t) { return t.tile_m == 1 && !t.boxed; }

std::int64_t lanes_shared(const work& w, std::int64_t products, std::int64_t lanes, bool in_slabs) {
    const auto slot = w.slot_of(in_slabs, lanes);
    return up(16 + 8 * products, 128) * 128 + products * slot * w.size + (in_slabs ? 128 : 0);
}

/// A thread a matrix.
void add_threads(std::vector<batched_tile>& out, const step& st, const work& w, const machine& chip) {
    if (st.dynamic_extents || !w.is_interleaved()) return;
    const auto words = w.size / 4;
    const std::int64_t sides = w.sizes.r > 1 ? 2 : 1;
    if (w.work_rows * w.sizes.n * w.parts <= 64)
        return out.push_back(tile_of(128, 128, 1, w.work_rows * sides * words <= 48 ? sides : 1, 0, false));
    for (const std::int64_t threads : {128, 64, 32})
        for (auto s = sides; s > 0; --s)
            if (w.work_rows * s * w.size * threads <= std::min<std::int64_t>(chip.shared_bytes, 64 << 10))
                return out.push_back(tile_of(threads, threads, 1, s, 1, false));
    if (w.work_rows * w.size * 32 <= chip.shared_bytes) out.push_back(tile_of(32, 32, 1, 1, 1, false));
}

std::int64_t usual_lanes(std::int64_t rows) {
    return rows <= 2 ? 2 : rows <= 4 ? 4 : rows <= 8 ? 8 : rows <= 32 ? 16 : 32;
}

constexpr std::int64_t most_threads = 128; ///< of a block of lanes

void add_lanes(std::vector<batched_tile>& out, const step& st, const work& w, const machine& chip) {
    if (st.dynamic_extents || w.work_rows > longest_in_lanes) return;
    const bool has_slabs = w.slot() > 0;
    const auto usual = usual_lanes(w.work_rows), bytes = w.slot_of(has_slabs, usual) * w.size;
    if (bytes > largest_in_shared) return;
    const auto add = [&](std::int64_t lanes, std::int64_t products, bool in_slabs) {
        const auto lines = up(w.work_rows, lanes), registers = lines * (w.size / 4);
        if (lanes < (in_slabs ? 1 : 2) || lanes > 32 || lines > 8 || products < 1 || products > 512) return;
        if (lanes_shared(w, products, lanes, in_slabs) > chip.shared_bytes) return;
        std::int64_t sides =
            power_of_two_to(std::min<std::int64_t>(std::max<std::int64_t>(w.sizes.r, 1), w.parts == 2 ? 2 : 4));
        while (sides > 1 && registers * sides > 32) sides /= 2;
        const auto threads =
            std::clamp<std::int64_t>(up(products * w.tiles(sides) * lanes, warp) * warp, warp, most_threads);
        const auto t = tile_of(products, threads, lanes, sides, 0, in_slabs);
        if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(t);
    };
    const auto products =
        std::min<std::int64_t>(power_of_two_to(std::max<std::int64_t>(block_bytes / bytes, 1)), 512);
    add(usual, products, has_slabs);
    add(usual / 2, products, has_slabs);
    add(usual * 2, products, has_slabs);
    add(usual, products / 2, has_slabs);
    add(usual, products * 2, has_slabs);
    add(usual / 2, products * 2, has_slabs);
    // in one round for each tile of right-hand sides, so that a batch of few matrices too is under way at once
    for (auto lanes = has_slabs ? std::int64_t{1} : std::int64_t{2}; lanes <= usual; lanes *= 2)
        add(lanes, std::min(most_threads / lanes, products), has_slabs);
    // neighbors in a slab meet on banks where a matrix is a multiple of 128 bytes
    if (has_slabs && bytes % 128 == 0 && usual * w.size < 128) add(usual, products, false);
}

void add_blocks(std::vector<batched_tile>& out, const step& st, const work& w, const machine& chip) {
    const auto usual = w.sizes.m <= 64 ? 64 : w.sizes.m <= 192 ? 128 : 256;
    const std::int64_t most = w.applies_q ? 2 : w.parts == 2 ? 4 : 8;
    std::int64_t sides = power_of_two_to(std::min(std::max<std::int64_t>(w.sizes.r, 1), most));
    if (st.dynamic_extents) {
        if (sides_at(w) <= chip.shared_bytes) out.push_back(tile_of(1, 256, 256, 2, 0, false));
        return;
    }
    const auto bytes_of = [&](std::int64_t s) {
        return sides_at(w) + w.work_rows * s * w.size + (w.has_pivots ? 4 * w.sizes.n : 0);
    };
    while (sides > 1 && bytes_of(sides) > std::min(chip.shared_bytes, sides_of_block_bytes)) sides /= 2;
    const int stages = bytes_of(sides) <= chip.shared_bytes ? 1 : 0;
    out.push_back(tile_of(1, usual, usual, sides, stages, false));
    for (const std::int64_t threads : {64, 128, 256})
        if (threads != usual) out.push_back(tile_of(1, threads, threads, sides, stages, false));
}

// ---- CPU ----

/// Matrices a work item: of some thousand elements.
std::int64_t products_of_item(const work& w) {
    const auto elements = std::max<std::int64_t>(w.sizes.m * w.sizes.n + 2 * w.work_rows * w.sizes.r, 1);
    return std::clamp<std::int64_t>(4096 / elements, 1, 64);
}

std::vector<batched_tile> candidates_on_cpu(const step& st, const work& w, const machine& chip) {
    std::vector<batched_tile> out;
    const auto lanes = std::max<std::int64_t>(chip.vector_bytes / w.real_size, 1), r = w.sizes.r;
    if (!st.dynamic_extents && w.is_interleaved())
        for (const std::int64_t sides : {r > 1 ? 2 : 1, 1})
            if (w.work_rows * sides * w.parts * chip.vector_bytes <= scratch_bytes) {
                out.push_back(tile_of(up(products_of_item(w), lanes) * lanes, 1, 1, sides, 0, false));
                break;
            }
    // as even as can be; of any number, few: one column takes as long as all
    const auto tiles = up(std::max<std::int64_t>(r, 1), 4);
    for (const std::int64_t sides :
         {st.dynamic_extents ? 2 : up(std::max<std::int64_t>(r, 1), tiles), std::int64_t{1}}) {
        const auto rows = up(w.work_rows, lanes) * lanes;
        const auto reals = rows * w.parts * sides + w.sizes.n * (w.parts + 1);
        if (st.dynamic_extents ? reals > scratch_reals_of_any : reals * w.real_size > scratch_bytes) continue;
        out.push_back(tile_of(products_of_item(w), 1, 2, sides, 0, false));
        break;
    }
    return out;
}

/// Passes of the vector kernel that go through the matrix's rows one after the other, and those through reflectors.
double steps_of(const work& w) {
    using enum matrix_method;
    const auto n = static_cast<double>(w.sizes.n), k = static_cast<double>(w.reflectors);
    if (w.method == qr) return n + 2 * k;
    if (w.applies_q) return 2 * k;
    return w.method == triangular ? n : 2 * n;
}
double elements_read(const work& w) {
    const auto all = static_cast<double>(w.sizes.m) * static_cast<double>(w.sizes.n);
    return w.method == matrix_method::triangular ? all / 2 : all;
}
/// Bytes from and to memory.
double bytes_moved(const work& w) {
    const auto sides = static_cast<double>((w.work_rows + w.solution_rows) * w.sizes.r);
    return static_cast<double>(w.sizes.matrices) * (static_cast<double>(w.sizes.m * w.sizes.n) + sides) *
           static_cast<double>(w.size);
}

double seconds_on_cpu(const work& w, const batched_tile& t, const machine& chip) {
    const auto lanes = std::max(chip.vector_bytes / static_cast<double>(w.real_size), 1.0);
    const auto clock = chip.flops_f64 / (4.0 * std::max(chip.vector_bytes / 8.0, 1.0) * chip.processors);
    const auto parts = static_cast<double>(w.parts),
               sides = static_cast<double>(std::max<std::int64_t>(w.sizes.r, 1));
    const auto products = elements_read(w) * parts * parts * sides;
    // measured with AVX-512, f64, one side, n = 8 to 32, on a shared machine of nominally 2.6 GHz: 9 to 15 cycles a
    // step
    double cycles = 40 + 12 * steps_of(w) * std::max(sides / t.tile_n, 1.0) + 0.75 * products / lanes;
    if (t.tile_m == 1) cycles = 10 + 1.5 * products / lanes + 2 * static_cast<double>(w.work_rows) * sides;
    return std::max(static_cast<double>(w.sizes.matrices) * cycles / (clock * chip.processors),
                    bytes_moved(w) / chip.bandwidth);
}

double seconds_on_cuda(const work& w, const batched_tile& t, const machine& chip) {
    const auto matrices = static_cast<double>(w.sizes.matrices), clock = sm_clock(chip);
    const auto tiles = static_cast<double>(w.tiles(t.tile_n)), lanes = static_cast<double>(t.tile_m);
    const auto memory = bytes_moved(w) / chip.bandwidth;
    if (is_by_threads(t)) return memory * (t.stages == 0 ? 1.1 : 1.25) * std::max(tiles, 1.0);
    const auto steps = steps_of(w), sides = static_cast<double>(t.tile_n);
    const auto words = static_cast<double>(w.size) / 4, passes = static_cast<double>(chip.processors);
    if (t.tile_m <= warp) {
        // Cycles of an SM's path to shared memory: a shuffle a word and a side, and the matrix's lines
        const auto lines = static_cast<double>(up(w.work_rows, t.tile_m)), sharing = 32.0 / lanes;
        const auto sums = w.applies_q || w.method == matrix_method::cholesky || w.of_adjoint ? 5.0 : 1.0;
        const auto busy = steps * tiles * words * (sides * sums + lines * 0.75) / sharing;
        const auto shared = lanes_shared(w, t.products, t.tile_m, t.boxed) + shared_of_a_block;
        const auto resident = std::clamp<double>(static_cast<double>(shared_of_an_sm(chip) / shared), 1.0,
                                                 static_cast<double>(blocks_of_an_sm));
        const auto groups = static_cast<double>(t.threads) / lanes,
                   rounds = static_cast<double>(t.products) * tiles / groups;
        const auto latency = (2500 + std::max(rounds, 1.0) * steps * (sums > 1 ? 120 : 60)) /
                             (resident * static_cast<double>(t.products));
        return std::max(memory, matrices * std::max(busy, latency) / (clock * passes));
    }
    const auto panels = steps / static_cast<double>(triangle_panel) + 1;
    const auto streamed = elements_read(w) * tiles * static_cast<double>(w.size) / (12.0 * 2.5); // mostly from L2
    const auto resident = std::clamp(2048.0 / t.threads, 1.0, 8.0);
    const auto latency = tiles * panels * (w.applies_q ? 9000 : 3500) / resident;
    const auto waves = std::max(1.0, matrices / passes);
    return std::max(memory, waves * std::max(streamed, latency) / clock);
}

} // namespace

std::vector<batched_tile> substitute_candidates(const step& st, const machine& chip) {
    const work w(st);
    if (chip.kind == target::cpu) return candidates_on_cpu(st, w, chip);
    std::vector<batched_tile> out;
    add_threads(out, st, w, chip);
    add_lanes(out, st, w, chip);
    if (out.empty() || w.work_rows > 32) add_blocks(out, st, w, chip);
    return out;
}

std::int64_t substitute_shared_bytes(const step& st, const batched_tile& t, const machine& chip) {
    if (chip.kind == target::cpu) return 0;
    const work w(st);
    if (is_by_threads(t)) return t.stages == 0 ? 0 : w.work_rows * t.tile_n * w.size * t.threads;
    if (t.tile_m <= warp) return lanes_shared(w, t.products, t.tile_m, t.boxed);
    if (t.stages == 0) return sides_at(w);
    return sides_at(w) + w.work_rows * t.tile_n * w.size + (w.has_pivots ? 4 * w.sizes.n : 0);
}

std::int64_t substitute_workspace_bytes(const step& st, const batched_tile& t, const machine& chip) {
    const work w(st);
    if (chip.kind == target::cpu || t.tile_m <= warp || t.stages != 0) return 0;
    return w.work_rows == w.solution_rows ? 0 : w.sizes.matrices * w.work_rows * w.sizes.r * w.size;
}

double substitute_seconds(const step& st, const batched_tile& t, const machine& chip) {
    const work w(st);
    return chip.kind == target::cpu ? seconds_on_cpu(w, t, chip) : seconds_on_cuda(w, t, chip);
}

} // namespace ricci::lowering
