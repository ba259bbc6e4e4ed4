// blocked_product: the parameters of a CPU's kernel for products that are more than a tile after another.
#include "lowering/blocked_product.hpp"

#include "lowering/core_rates.hpp"
#include "lowering/families.hpp"
#include "lowering/register_tile.hpp"
#include "lowering/two_steps.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t panel_bytes = 96 << 10; ///< of X, at most: they come from L2, one line after another
constexpr std::int64_t y_bytes = 512 << 10;    ///< of a block's Y, at most, half of that where it is copied
/// What a block reads again of Y it has in L2 for so many panels; where there are no other products, threads share
/// this one.
constexpr std::int64_t panels_of_batched = 16, panels_of_one = 2;
constexpr std::int64_t most_fetched = 1200 << 10; ///< bytes of a product that are fetched ahead, beside that at work
constexpr std::int32_t unrolled = 2;
constexpr std::int64_t longest_side = 1 << 24;

std::int64_t divided(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct geometry {
    std::int64_t parts, lanes, rows, columns, steps, vectors;

    geometry(const step& st, const machine& chip)
        : parts(is_complex(st.compute) ? 2 : 1), lanes(chip.vector_bytes / size_of(real_of(st.compute))),
          rows(extent_of(st, m)), columns(extent_of(st, n)), steps(extent_of(st, k)),
          vectors(divided(rows * parts, lanes)) {}
};

bool copies_y(const step& st) { return operand_of(st, 2).type != st.compute || axes_of(st, k).size() != 1; }

std::int64_t bytes_of_product(const step& st) {
    const auto em = extent_of(st, m), en = extent_of(st, n), ek = extent_of(st, k);
    return em * ek * size_of(operand_of(st, 1).type) + ek * en * size_of(operand_of(st, 2).type) +
           em * en * size_of(operand_of(st, 0).type);
}

/// Sums of a part of the steps are stored in C: where that would round them, or multiply a part by an infinite
/// coefficient, a panel has all steps.
bool stores_parts(const step& st) { return st.operands[0].type == st.compute && !is_scaled(st); }

std::int64_t most_steps(const step& st, const geometry& g, std::int64_t tile_vectors, const machine& chip) {
    if (!stores_parts(st)) return g.steps;
    const auto fitting = panel_bytes / (tile_vectors * chip.vector_bytes);
    const auto parts = divided(g.steps, std::max<std::int64_t>(fitting, 1)), even = divided(g.steps, parts);
    const auto elements = g.lanes / g.parts;
    return parts == 1 ? g.steps : divided(even, elements) * elements;
}

/// Whether a product's operand lies together: columns far apart, as those of a tall matrix cut into products, lie on
/// the same sets of L1, and copying them costs more than it saves (f64, 64 rows of 40 columns: 22 GF/s, so 38).
bool lies_together(const step& st, int o) {
    const auto& x = operand_of(st, o);
    std::int64_t elements = 1, span = 1;
    for (std::size_t a = 0; a < st.axes.size(); ++a) {
        if (!x.present[a] || st.classes[a] == batch) continue;
        elements *= st.axes[a].extent;
        span += (st.axes[a].extent - 1) * std::abs(x.stride[a]);
    }
    return span <= 2 * elements;
}

constexpr std::int64_t near_bytes = 40000; ///< of X, which stays in L1
constexpr std::int64_t fewest_reuses = 2;  ///< of a copied number

/// Half of a symmetric C is worth more than what that costs, from here on.
constexpr std::int64_t least_symmetric = 3, least_rows = 20; ///< vectors a column; and rows

std::int64_t elements_of_vector(scalar_type compute, const machine& chip) {
    return chip.vector_bytes / size_of(compute);
}

bool rows_cross_lines(const step& st, const machine& chip) {
    const auto between = single_step(st, st.x, k) * size_of(operand_of(st, 1).type);
    return between % chip.vector_bytes != 0;
}

bool pays_symmetry(std::int64_t rows, scalar_type compute, const machine& chip) {
    return chip.kind == target::cpu && rows >= least_rows &&
           rows > (least_symmetric - 1) * elements_of_vector(compute, chip);
}

/// Tiles one after another are at half of the memory's rate where they cannot fetch the next product (f64 40 to 64).
bool blocked_beats_tiles(const step& st, const machine& chip) {
    const bool halves = symmetry_of_c(st) != symmetry::none && pays_symmetry(extent_of(st, m), st.compute, chip);
    const bool together = lies_together(st, 0) && lies_together(st, 1) && lies_together(st, 2);
    return largest_side(st) > largest_batched || (together && (halves || !fits_near(st)));
}

} // namespace

blocked_layout blocked_layout_of(const step& st, const batched_tile& t, const machine& chip) {
    const geometry g(st, chip);
    blocked_layout out;
    out.panel_rows = t.tile_m * g.lanes / g.parts;
    out.block_rows = out.panel_rows * t.slices;
    out.row_blocks = divided(g.rows, out.block_rows);
    out.column_blocks = divided(g.columns, t.panel);
    return out;
}

bool reads_x_in_place(const step& st, const batched_tile& t) {
    const auto& x = operand_of(st, 1);
    if (x.type != st.compute || single_step(st, st.x, m) != 1 || axes_of(st, k).size() != 1) return false;
    if (least_changing_stride(st, st.x) <= 1) return false; // the kernel does not know that stride
    const auto tiles = divided(std::min<std::int64_t>(extent_of(st, n), t.panel), t.tile_n);
    const bool is_near = extent_of(st, m) * extent_of(st, k) * size_of(x.type) <= near_bytes && lies_together(st, 1);
    return is_near || tiles <= fewest_reuses;
}

symmetry symmetry_of_c(const step& st) {
    const auto rows = axes_of(st, m), columns = axes_of(st, n);
    if (rows.size() != 1 || columns.size() != 1 || st.op != assignment::assign) return symmetry::none;
    const auto is_mirrored = [&](std::int32_t a) { return st.axes[static_cast<std::size_t>(a)].mirrored; };
    return is_mirrored(rows.front()) && is_mirrored(columns.front()) ? st.symmetry : symmetry::none;
}

double share_of_symmetric(std::int64_t rows, scalar_type compute, const machine& chip) {
    if (!pays_symmetry(rows, compute, chip)) return 1;
    const auto panel = 3 * elements_of_vector(compute, chip); // rows of most tiles: so far beyond the diagonal
    constexpr double of_large = 0.6; // half, and smaller tiles, and the copy of the other half
    return std::min(1.0, of_large + 0.5 * static_cast<double>(panel) / static_cast<double>(rows));
}

bool fits_blocked(const step& st, const machine& chip) {
    if (chip.kind != target::cpu || axes_of(st, m).size() != 1 || axes_of(st, n).size() != 1) return false;
    if (!blocked_beats_tiles(st, chip) || extent_of(st, k) < 2 || largest_side(st) > longest_side) return false;
    return !blocked_tiles(st, chip).empty();
}

bool library_beats_blocked(const step& st) {
    // OpenBLAS 0.3.21, one and two threads: 0.75 to 1.0 times as fast below, 0.95 to 1.05 above; where one side is
    // short 0.6 to 0.9.
    constexpr double least = 448;
    constexpr std::int64_t shortest = 200;
    const std::array sides{extent_of(st, m), extent_of(st, n), extent_of(st, k)};
    double size = 1;
    for (const auto s : sides) size *= static_cast<double>(s);
    return symmetry_of_c(st) == symmetry::none && size >= least * least * least &&
           *std::min_element(sides.begin(), sides.end()) >= shortest;
}

std::vector<batched_tile> blocked_tiles(const step& st, const machine& chip) {
    const geometry g(st, chip);
    const auto elements = g.lanes / g.parts;
    if (elements < 1) return {};
    const bool mirrors = symmetry_of_c(st) != symmetry::none;
    std::vector<batched_tile> out;
    for (std::int64_t v = 1; v <= std::min<std::int64_t>(g.vectors, 6); ++v)
        for (std::int64_t columns = 1; columns <= std::min<std::int64_t>(g.columns, 16); ++columns) {
            const auto registers = v * columns * g.parts + v + 1;
            if (registers > chip.vector_registers || (mirrors && v * elements % columns != 0)) continue;
            batched_tile t;
            t.threads = 1;
            t.tile_m = static_cast<std::int32_t>(v), t.tile_n = static_cast<std::int32_t>(columns);
            t.k_unrolled = unrolled;
            const auto steps = most_steps(st, g, v, chip);
            if (steps * v * chip.vector_bytes > 2 * panel_bytes) continue;
            t.k_panel = static_cast<std::int32_t>(steps);
            const auto of_y = steps * size_of(st.compute);
            const auto fitting = std::max<std::int64_t>((copies_y(st) ? y_bytes / 2 : y_bytes) / of_y / columns, 1);
            const auto tiles = divided(g.columns, columns), blocks = divided(tiles, fitting);
            t.panel = static_cast<std::int32_t>(divided(tiles, blocks) * columns);
            const bool batched = !axes_of(st, batch).empty();
            const auto panels = divided(g.vectors, v);
            t.slices = static_cast<std::int32_t>(std::min(panels, batched ? panels_of_batched : panels_of_one));
            const bool is_block = t.slices == panels && t.panel >= g.columns;
            t.stages = batched && is_block && bytes_of_product(st) <= most_fetched ? 1 : 0;
            out.push_back(t);
        }
    return out;
}

std::vector<double> blocked_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip) {
    const geometry g(st, chip);
    const bool mirrors = symmetry_of_c(st) != symmetry::none;
    constexpr double cycles_of_a_tile = 12, cycles_of_a_copy = 2; ///< until sums are under way; of a vector
    constexpr double crossing_load = 0.5; ///< more, of a vector that lies anywhere in lines of memory
    std::vector<double> out;
    for (const auto& t : tiles) {
        const auto layout = blocked_layout_of(st, t, chip);
        const auto chunks = static_cast<double>(divided(g.steps, t.k_panel)), steps = static_cast<double>(g.steps);
        const bool in_place = reads_x_in_place(st, t);
        const double of_load = in_place && rows_cross_lines(st, chip) ? 1 + crossing_load : 1;
        const double of_copy = in_place ? 0 : cycles_of_a_copy;
        const auto of_panel = [&](std::int64_t row) {
            const auto rows = std::min(layout.panel_rows, g.rows - row);
            const auto v = static_cast<double>(divided(rows * g.parts, g.lanes));
            const auto columns = mirrors ? std::min(g.columns, row + layout.panel_rows) : g.columns;
            const auto of_tile = [&](std::int64_t count) {
                const auto c = static_cast<double>(count * g.parts);
                const double multiplies = std::max(v * c / multiplies_a_cycle, latency);
                const double loads = (c + v * of_load) / loads_a_cycle;
                return steps * (std::max(multiplies, loads) + not_overlapped * std::min(multiplies, loads)) +
                       chunks * (cycles_of_a_tile + v * c);
            };
            return static_cast<double>(columns / t.tile_n) * of_tile(t.tile_n) +
                   (columns % t.tile_n != 0 ? of_tile(columns % t.tile_n) : 0) +
                   static_cast<double>(layout.column_blocks) * v * steps * of_copy;
        };
        const auto last = (g.rows - 1) / layout.panel_rows * layout.panel_rows;
        double cycles = of_panel(last);
        if (mirrors)
            for (std::int64_t row = 0; row < last; row += layout.panel_rows) cycles += of_panel(row);
        else if (last > 0)
            cycles += static_cast<double>(last / layout.panel_rows) * of_panel(0);
        out.push_back(cycles * static_cast<double>(extent_of(st, batch)) / core_clock(st, chip));
    }
    return out;
}

} // namespace ricci::lowering
