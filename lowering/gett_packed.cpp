// gett_packed: the parameters of a CPU's kernel for products whose sides and sum have any axes.
#include "lowering/gett_packed.hpp"

#include "lowering/core_rates.hpp"
#include "lowering/families.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace ricci::lowering {

sum_lines gett_lines(const step& st, int o) {
    const auto& x = operand_of(st, o);
    const auto axes = axes_of(st, axis_class::k);
    const auto at = [&](std::size_t a) { return static_cast<std::size_t>(axes[a]); };
    if (axes.empty() || x.stride[at(0)] != 1) return sum_lines::none;
    bool all = x.bounds.empty();
    for (std::size_t a = 1; a < axes.size(); ++a)
        all = all && x.stride[at(a)] == x.stride[at(a - 1)] * st.axes[at(a - 1)].extent;
    if (all) return sum_lines::all;
    const bool moves =
        std::any_of(x.bounds.begin(), x.bounds.end(), [&](const bound& b) { return b.coefficient[at(0)] != 0; });
    return moves ? sum_lines::none : sum_lines::first_axis;
}

namespace {

using enum axis_class;

constexpr std::int64_t sums_bytes = 192 << 10, y_bytes = 128 << 10; ///< of a block, at most: both stay in L2
constexpr double share_of_l1 = 0.6;                                 ///< for a panel of X, beside what passes by
constexpr std::int64_t most_columns = 256;
constexpr std::int64_t longest_panel = 512; ///< steps: more of them save nothing
constexpr std::int32_t unrolled = 2;
/// Multiply-adds of a whole step below which packing, and a block's other memory, cost more than they save.
constexpr double least_work = 1 << 13;

std::int64_t divided(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The even part of `length`, a multiple of `unit`, where it is cut into as few parts of at most `most` as there can
/// be.
std::int64_t evenly(std::int64_t length, std::int64_t most, std::int64_t unit) {
    const auto units = divided(length, unit), fitting = std::max<std::int64_t>(most / unit, 1);
    return divided(units, divided(units, fitting)) * unit;
}

/// The extent of a class for which parameters are chosen: of an axis that may change always the same, so that the
/// kernel is, too.
std::int64_t usual_extent(const axis& a) {
    constexpr std::int64_t of_variable = 4096;
    return a.variable ? of_variable : a.extent;
}
std::int64_t usual_extent(const step& st, axis_class c) {
    constexpr std::int64_t longest = 1 << 24; // longer ones are as good
    std::int64_t out = 1;
    for (const auto a : axes_of(st, c))
        out = std::min(out * std::min(usual_extent(st.axes[static_cast<std::size_t>(a)]), longest), longest);
    return out;
}

/// Of the extents for which parameters are chosen.
struct geometry {
    std::int64_t parts, lanes, rows, columns, steps;

    geometry(const step& st, const machine& chip)
        : parts(is_complex(st.compute) ? 2 : 1), lanes(chip.vector_bytes / size_of(real_of(st.compute))),
          rows(usual_extent(st, m)), columns(usual_extent(st, n)), steps(usual_extent(st, k)) {}
    /// Of the extents that it has.
    static geometry here(const step& st, const machine& chip) {
        geometry out(st, chip);
        out.rows = extent_of(st, m), out.columns = extent_of(st, n), out.steps = extent_of(st, k);
        return out;
    }
    std::int64_t panel_rows(const batched_tile& t) const { return t.tile_m * lanes / parts; }
};

/// Of an operand, whether its elements along the first axis of a class are neighbors; and of that axis the extent.
bool are_neighbors(const step& st, int o, axis_class c) {
    const auto axes = axes_of(st, c);
    return !axes.empty() && operand_of(st, o).stride[static_cast<std::size_t>(axes.front())] == 1;
}
std::int64_t run_length(const step& st, axis_class c) {
    const auto axes = axes_of(st, c);
    return axes.empty() ? 1 : usual_extent(st.axes[static_cast<std::size_t>(axes.front())]);
}

/// Cycles that packing `width` rows (or columns) takes for a step: what finds their runs, then vectors where they are
/// neighbors, or where steps are, which are turned in registers; else element by element.
double packing_cycles(const step& st, int o, axis_class c, const geometry& g, std::int64_t width) {
    constexpr double of_run = 6, of_vector = 2, of_turned = 0.8, of_element = 2;
    const auto count = static_cast<double>(width);
    const bool by_vectors = g.parts == 1 && loads_as_vector(operand_of(st, o).type, st.compute);
    const double runs = std::max(1.0, count / static_cast<double>(run_length(st, c)));
    if (by_vectors && are_neighbors(st, o, c))
        return runs * (of_run + of_vector) + of_vector * count / static_cast<double>(g.lanes);
    const auto lines = gett_lines(st, o);
    const auto line = lines == sum_lines::all ? g.steps : lines == sum_lines::first_axis ? run_length(st, k) : 0;
    if (by_vectors && line >= g.lanes) return of_turned * count;
    return runs * of_run + of_element * count * static_cast<double>(g.parts);
}

} // namespace

gett_layout gett_layout_of(const step& st, const batched_tile& t, const machine& chip) {
    const geometry g(st, chip);
    gett_layout out;
    out.block_rows = g.panel_rows(t) * t.slices;
    out.row_blocks = divided(extent_of(st, m), out.block_rows);
    out.column_blocks = divided(extent_of(st, n), t.panel);
    return out;
}

bool fits_gett_packed(const step& st, const machine& chip) {
    const auto rows = usual_extent(st, m), columns = usual_extent(st, n), steps = usual_extent(st, k);
    if (steps < 2) return false;
    // One row or column is a matrix times a vector, which has nothing to pack for, but that it is padded.
    const bool padded = !operand_of(st, 1).bounds.empty() || !operand_of(st, 2).bounds.empty();
    if (!padded && std::min(rows, columns) < 2) return false;
    const double work = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(steps);
    return work >= least_work && chip.vector_bytes >= size_of(st.compute); // a vector holds an element
}

std::vector<batched_tile> gett_packed_tiles(const step& st, const machine& chip) {
    const geometry g(st, chip);
    const auto elements = g.lanes / g.parts;
    if (elements < 1) return {};
    std::vector<batched_tile> out;
    const auto vectors = divided(g.rows, elements);
    for (std::int64_t v = 1; v <= std::min<std::int64_t>(vectors, 6); ++v)
        for (std::int64_t columns = 1; columns <= std::min<std::int64_t>(g.columns, 16); ++columns) {
            if (v * columns * g.parts + v + 1 > chip.vector_registers) continue;
            batched_tile t;
            t.threads = 1;
            t.tile_m = static_cast<std::int32_t>(v), t.tile_n = static_cast<std::int32_t>(columns);
            t.k_unrolled = unrolled;
            const auto near = static_cast<std::int64_t>(share_of_l1 * static_cast<double>(chip.shared_bytes));
            const auto steps = std::clamp<std::int64_t>(near / (v * chip.vector_bytes), 1, longest_panel);
            t.k_panel = static_cast<std::int32_t>(evenly(g.steps, steps, 1));
            const auto of_column = t.k_panel * size_of(st.compute);
            const auto most = std::min(most_columns, std::max(y_bytes / of_column, columns));
            t.panel = static_cast<std::int32_t>(evenly(g.columns, most, columns));
            const auto fitting = sums_bytes / (t.panel * size_of(st.compute));
            t.slices = static_cast<std::int32_t>(
                std::max<std::int64_t>(evenly(g.rows, fitting, g.panel_rows(t)) / g.panel_rows(t), 1));
            out.push_back(t);
        }
    return out;
}

namespace {

double seconds_of(const step& st, const batched_tile& t, const geometry& g, const machine& chip) {
    constexpr double cycles_of_a_tile = 12; ///< until sums are under way
    constexpr double of_stored_vector = 3, of_stored_element = 2;
    const double stored =
        static_cast<double>(g.rows * g.columns * g.parts) *
        (are_neighbors(st, 0, m) ? of_stored_vector / static_cast<double>(g.lanes) : of_stored_element);
    const auto steps = static_cast<double>(g.steps);
    const auto row_blocks = divided(g.rows, g.panel_rows(t) * t.slices), column_blocks = divided(g.columns, t.panel);
    const auto panels = static_cast<double>(divided(g.rows, g.panel_rows(t)));
    const auto columns = static_cast<double>(divided(g.columns, t.tile_n)),
               chunks = static_cast<double>(divided(g.steps, t.k_panel));
    const auto v = static_cast<double>(t.tile_m), c = static_cast<double>(t.tile_n * g.parts);
    const double multiplies = std::max(v * c / multiplies_a_cycle, latency), loads = (c + v) / loads_a_cycle;
    const double of_tile = steps * (std::max(multiplies, loads) + not_overlapped * std::min(multiplies, loads)) +
                           chunks * (cycles_of_a_tile + 2 * v * c);
    const double packing =
        steps * (panels * static_cast<double>(column_blocks) * packing_cycles(st, 1, m, g, g.panel_rows(t)) +
                 columns * static_cast<double>(row_blocks) * packing_cycles(st, 2, n, g, t.tile_n));
    const double cycles = panels * columns * of_tile + packing + stored;
    return cycles * static_cast<double>(extent_of(st, batch)) / core_clock(st, chip);
}

} // namespace

std::vector<double> gett_packed_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip) {
    const geometry g(st, chip);
    std::vector<double> out;
    for (const auto& t : tiles) out.push_back(seconds_of(st, t, g, chip));
    return out;
}

double gett_packed_seconds_here(const step& st, const batched_tile& tile, const machine& chip) {
    return seconds_of(st, tile, geometry::here(st, chip), chip);
}

} // namespace ricci::lowering
