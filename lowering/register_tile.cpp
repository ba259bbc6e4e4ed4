// register_tile: the parameters of a CPU's kernel for small products.
#include "lowering/register_tile.hpp"

#include "lowering/core_rates.hpp"
#include "lowering/families.hpp"
#include "lowering/packed_products.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr double exposed_latency = 0.4 * latency; ///< the rest is hidden by the next tile's or product's
constexpr double crossing_loads_a_cycle = 1, crossing_stores_a_cycle = 0.5;
constexpr double cycles_of_a_tile = 4;    ///< until its first sums are under way
constexpr double tile_overlap_lost = 0.2; ///< of loads, or multiplies: these tiles are short
constexpr double of_jumping = 0.02;       ///< of a step that is not the whole sum's code
/// Bytes of X and Y: smaller products need not be fetched ahead, larger ones have no room beside the one at work. In
/// between, from memory, f64 32 without is at 78 % of the triad, with it at 150 (`+=`), and 68 and 98 (`=`); from L2
/// it costs 4 % (`=`) to 10 (`+=`).
constexpr std::int64_t least_fetched = 1024, most_fetched = 20000;
/// From L2 that cores get while they multiply, with and without fetching ahead (f64 and f32 5 to 8, Xeon with 2 MB of
/// L2 a core).
constexpr double bytes_a_cycle = 17, bytes_a_cycle_ahead = 18;
constexpr std::int64_t most_unrolled = 320; ///< multiplies without a jump: 64 to 128 bytes of code for ten

/// What the kernel's constants are made of.
struct geometry {
    std::int64_t parts, lanes, vectors, n, k;

    geometry(const step& st, const machine& chip)
        : parts(is_complex(st.compute) ? 2 : 1), n(extent_of(st, axis_class::n)), k(extent_of(st, axis_class::k)) {
        const auto rows = static_cast<std::uint64_t>(extent_of(st, axis_class::m) * parts);
        const auto widest = static_cast<std::uint64_t>(chip.vector_bytes / size_of(real_of(st.compute)));
        const auto of_vector = std::min(std::bit_ceil(std::max<std::uint64_t>(rows, 2)), widest);
        lanes = static_cast<std::int64_t>(of_vector);
        vectors = static_cast<std::int64_t>((rows + of_vector - 1) / of_vector);
    }
};

/// How the kernel takes X, and what copying a number costs, of Y by vectors where lines of it are widened.
struct operand_costs {
    bool x_transposed = false, x_copied = false, y_copied = false;
    double x_copy = 1.5, y_copy = 1.5;

    explicit operand_costs(const step& st) {
        const auto &x = operand_of(st, 1), &y = operand_of(st, 2);
        const auto has_one = [&](axis_class c) { return axes_of(st, c).size() == 1; };
        const bool single = has_one(m) && has_one(axis_class::k);
        const bool vectors = single && loads_as_vector(x.type, st.compute);
        const bool direct = vectors && single_step(st, st.x, m) == 1;
        x_transposed = !direct && vectors && single_step(st, st.x, axis_class::k) == 1;
        x_copied = !direct && !x_transposed;
        const bool plain = has_one(axis_class::k) && has_one(axis_class::n);
        y_copied = y.type != st.compute || !plain;
        const auto along = [&](axis_class c) { return single_step(st, st.y, c) == 1; };
        if (plain && loads_as_vector(y.type, st.compute) && (along(axis_class::k) || along(axis_class::n)))
            y_copy = 0.2;
    }
};

/// The larger of the parts of `count` things in as few parts of at most `largest` as can be, even ones.
std::int64_t evenly(std::int64_t count, std::int64_t largest) {
    const auto parts = (count + largest - 1) / largest;
    return (count + parts - 1) / parts;
}

/// What a product of a long batch has of its own of an operand, however long this one is: its kernel serves them all.
double bytes_of_a_product(const step& st, int o) {
    const auto batches = axes_of(st, batch);
    const auto& x = operand_of(st, o);
    const bool own = !x.gathers.empty() || std::any_of(batches.begin(), batches.end(), [&](auto a) {
        return x.present[static_cast<std::size_t>(a)] != 0;
    });
    const auto first = extent_of(st, o == 2 ? axis_class::k : m);
    const auto second = extent_of(st, o == 1 ? axis_class::k : axis_class::n), elements = first * second;
    const bool twice = o == 0 && st.op != assignment::assign;
    return own ? static_cast<double>(elements * size_of(x.type) * (twice ? 2 : 1)) : 0;
}

/// What C's way to L2 takes of its rate, where tiles write it a column after another, whole columns side by side, or
/// pieces of columns (f64 78 x 121 x 3: 21 us by tiles of 5 vectors and 1 column, 25 by 5 x 5, 31 by 2 x 8).
double share_of_c(const geometry& g, const batched_tile& t) {
    constexpr double whole_columns = 1.8, pieces = 2;
    return t.tile_n == 1 ? 1 : t.tile_m >= g.vectors ? whole_columns : pieces;
}

std::int64_t fetched_bytes(const step& st) {
    return (extent_of(st, m) + extent_of(st, axis_class::n)) * extent_of(st, k) * size_of(st.compute);
}

/// Two products ahead, that is; with C, which lies beside them in L1 then (f64 23 x 54 x 6 from L2: 28 us, one ahead
/// 14).
std::int64_t bytes_of_one_ahead(const step& st) {
    return fetched_bytes(st) + extent_of(st, m) * extent_of(st, axis_class::n) * size_of(operand_of(st, 0).type);
}

/// AMD's own prefetchers are better left alone until products are large. From memory, `+=`, without and one ahead on
/// an EPYC (Zen 4): f64 10 15.1 and 17.7 ms, 16 15.2 and 16.4, 24 15.8 and 18.7, f32 32 19.2 and 20.5; but f64
/// 28 25.8 and 22.0, 32 28.9 and 22.3. From L2 it does not matter.
bool fetches(const step& st, const machine& chip) {
    constexpr std::int64_t left_alone = 11000;
    return !axes_of(st, batch).empty() && fits_near(st) &&
           !(chip.model.starts_with("AMD") && fetched_bytes(st) < left_alone);
}

/// Before the multiplies.
double cycles_of_copies(const geometry& g, const batched_tile& t, const operand_costs& costs, const machine& chip) {
    const double numbers = static_cast<double>(g.lanes * g.vectors * g.k);
    double cycles = costs.y_copied ? static_cast<double>(g.n * g.k * g.parts) * costs.y_copy : 0;
    if (costs.x_copied) cycles += numbers * costs.x_copy;
    if (!costs.x_transposed) return cycles;
    // Vectors of E elements are transposed in log2(E) stages of E permutations, on one of the two multipliers' ports.
    const auto elements = g.lanes / g.parts, blocks = g.vectors * ((g.k + elements - 1) / elements);
    constexpr double share_of_port = 0.6;
    cycles += share_of_port * static_cast<double>(blocks * elements) * std::log2(static_cast<double>(elements));
    const auto registers = t.tile_m * (g.n * g.parts + elements);
    const bool stored = t.tile_n < g.n || registers > chip.vector_registers;
    return cycles + (stored ? static_cast<double>(g.vectors * g.k) : 0);
}

/// Of each row, as many loads of X and Y as it has vectors, and two permutations and an addition.
double cycles_of_row_sums(const step& st, const machine& chip) {
    const auto lanes = chip.vector_bytes / size_of(st.compute);
    const auto rows = static_cast<double>(extent_of(st, m));
    const auto vectors = static_cast<double>((extent_of(st, k) + lanes - 1) / lanes);
    const double loads = rows > 1 ? rows + 1 : 2; // Y's serve all rows
    return loads * vectors / loads_a_cycle + 3 * rows / multiplies_a_cycle;
}

double cycles_of_product(const geometry& g, const batched_tile& t, std::int64_t element) {
    const auto row_tiles = (g.vectors + t.tile_m - 1) / t.tile_m, column_tiles = (g.n + t.tile_n - 1) / t.tile_n;
    double cycles = 0;
    const auto bytes = static_cast<double>(g.lanes * element);
    const double crossing = bytes / 64; // of lines of 64 bytes, by a vector anywhere
    for (std::int64_t r = 0; r < row_tiles; ++r)
        for (std::int64_t c = 0; c < column_tiles; ++c) {
            const auto v = static_cast<double>(g.vectors / row_tiles + (r < g.vectors % row_tiles));
            const auto columns = static_cast<double>((g.n / column_tiles + (c < g.n % column_tiles)) * g.parts);
            const double multiplies = std::max(v * columns / multiplies_a_cycle, exposed_latency);
            const double loads = (columns + (t.stages > 0 ? 2 : 0)) / broadcasts_a_cycle +
                                 v * (crossing / crossing_loads_a_cycle + (1 - crossing) / loads_a_cycle);
            const bool jumping = t.k_unrolled > 0 && t.k_unrolled < g.k;
            const double jumps = jumping ? 1.0 / t.k_unrolled + of_jumping * multiplies : 0;
            const double stores =
                v * columns / static_cast<double>(g.parts) * (crossing / crossing_stores_a_cycle + (1 - crossing));
            const double step = std::max(multiplies, loads) + tile_overlap_lost * std::min(multiplies, loads) + jumps;
            cycles += static_cast<double>(g.k) * step + stores + cycles_of_a_tile;
        }
    return cycles;
}

} // namespace

bool adds_along_k(const step& st) {
    if (is_complex(st.compute) || extent_of(st, axis_class::n) > 1 || axes_of(st, axis_class::n).size() > 1 ||
        axes_of(st, m).size() > 1 || axes_of(st, k).size() != 1)
        return false;
    const auto is_row = [&](std::int32_t o) {
        return single_step(st, o, k) == 1 && loads_as_vector(operand_of(st, o).type, st.compute);
    };
    return is_row(st.x) && is_row(st.y);
}

bool fits_near(const step& st) { return fetched_bytes(st) <= most_fetched; }

step with_vectors_along_m(step st) {
    const auto along = [&](axis_class c, int o) {
        const auto axes = axes_of(st, c);
        return axes.size() == 1 ? std::abs(operand_of(st, o).stride[static_cast<std::size_t>(axes.front())]) : 0;
    };
    const auto rows = extent_of(st, m), columns = extent_of(st, n);
    if (rows == 1 || columns == 1) return rows == 1 && columns > 1 ? with_sides_swapped(std::move(st)) : st;
    const bool m_is_near = along(m, 0) == 1, n_is_near = along(n, 0) == 1;
    if (m_is_near != n_is_near) return n_is_near ? with_sides_swapped(std::move(st)) : st;
    return columns > rows ? with_sides_swapped(std::move(st)) : st;
}

step with_vectors_along_m_of_x(step st) {
    const auto is_near = [&](axis_class c, std::int32_t o) { return std::abs(single_step(st, o, c)) == 1; };
    const bool along_k = is_near(k, st.x) && is_near(k, st.y);
    return !along_k && !is_near(m, st.x) && is_near(n, st.y) ? with_sides_swapped(std::move(st)) : st;
}

std::vector<batched_tile> register_tiles(const step& st, const machine& chip) {
    const geometry g(st, chip);
    std::vector<batched_tile> out;
    if (adds_along_k(st)) {
        batched_tile t;
        t.threads = 1;
        return {t};
    }
    for (std::int64_t v = 1; v <= std::min<std::int64_t>(g.vectors, 6); ++v) {
        if (evenly(g.vectors, v) != v) continue;
        for (std::int64_t columns = 1; columns <= g.n; ++columns) {
            // beside the sums, X's vectors and an element of Y, which may come with the multiplication itself
            const auto registers = v * columns * g.parts + v + (v > 1 ? 1 : 0);
            if (evenly(g.n, columns) != columns || registers > chip.vector_registers) continue;
            for (const std::int64_t unrolled : {0, 8, 4, 2}) {
                if (unrolled >= g.k || (unrolled == 0 ? g.k : unrolled) * v * columns * g.parts > most_unrolled)
                    continue;
                batched_tile t;
                t.threads = 1;
                t.tile_m = static_cast<std::int32_t>(v), t.tile_n = static_cast<std::int32_t>(columns);
                t.k_unrolled = static_cast<std::int32_t>(unrolled);
                out.push_back(t);
            }
        }
    }
    if (const auto group = packed_group(st, chip); group > 1 && !out.empty()) {
        auto t = out.front(); // for the rest of the batch
        t.products = static_cast<std::int32_t>(group);
        out.push_back(t);
    }
    if (!fetches(st, chip)) return out;
    std::vector<batched_tile> fetching;
    for (const auto& t : out) {
        if (t.products > 1 || fetched_bytes(st) < least_fetched) fetching.push_back(t);
        if (t.products > 1) continue;
        for (const int ahead : {2, 1}) {
            if (ahead > 1 && ahead * bytes_of_one_ahead(st) > most_fetched) continue;
            fetching.push_back(t);
            fetching.back().stages = ahead;
        }
    }
    return fetching;
}

std::vector<batched_tile> neighbor_tiles(const step& st, const machine& chip) {
    const auto rows = extent_of(st, m), columns = extent_of(st, axis_class::n);
    const std::int64_t parts = is_complex(st.compute) ? 2 : 1;
    std::vector<batched_tile> out;
    for (std::int64_t i = 1; i <= rows; ++i)
        for (std::int64_t j = 1; j <= columns; ++j) {
            if (evenly(rows, i) != i || evenly(columns, j) != j) continue;
            if ((i * j + i + 1) * parts > chip.vector_registers && i * j > 1) break;
            batched_tile t;
            t.threads = 1;
            t.tile_m = static_cast<std::int32_t>(i), t.tile_n = static_cast<std::int32_t>(j);
            out.push_back(t);
        }
    return out;
}

std::int64_t neighbor_copy_bytes(const step& st, const machine& chip) {
    const std::int64_t parts = is_complex(st.compute) ? 2 : 1;
    const auto sides = extent_of(st, m) + extent_of(st, axis_class::n);
    return sides * extent_of(st, axis_class::k) * parts * chip.vector_bytes;
}

std::vector<double> neighbor_tile_seconds(const step& st, const std::vector<batched_tile>& tiles,
                                          const machine& chip) {
    const auto rows = extent_of(st, m), columns = extent_of(st, axis_class::n), steps = extent_of(st, axis_class::k);
    const double parts = is_complex(st.compute) ? 2 : 1;
    const auto lanes = static_cast<double>(chip.vector_bytes / size_of(real_of(st.compute)));
    std::vector<double> out;
    for (const auto& t : tiles) {
        const auto up = [](std::int64_t a, std::int64_t b) { return static_cast<double>((a + b - 1) / b); };
        const double tiles_of_c = up(rows, t.tile_m) * up(columns, t.tile_n);
        const double i = static_cast<double>(rows) / up(rows, t.tile_m);
        const double j = static_cast<double>(columns) / up(columns, t.tile_n);
        const double a_step =
            std::max({parts * parts * i * j / multiplies_a_cycle, exposed_latency, parts * (i + j) / loads_a_cycle});
        const bool copies_x = columns > t.tile_n || parts > 1, copies_y = rows > t.tile_m || parts > 1;
        const auto sides = (copies_x ? rows : 0) + (copies_y ? columns : 0);
        const double copied = parts * static_cast<double>(steps * sides);
        const double cycles = tiles_of_c * static_cast<double>(steps) * a_step + 2 * copied +
                              2 * parts * static_cast<double>(rows * columns);
        out.push_back(cycles / lanes * static_cast<double>(extent_of(st, batch)) / core_clock(st, chip));
    }
    return out;
}

std::vector<double> register_tile_seconds(const step& st, const std::vector<batched_tile>& tiles,
                                          const machine& chip) {
    const geometry g(st, chip);
    const operand_costs costs(st);
    const auto element = size_of(real_of(st.compute));
    const double clock = core_clock(st, chip);
    const double products = static_cast<double>(extent_of(st, batch));
    const double of_x_and_y = bytes_of_a_product(st, 1) + bytes_of_a_product(st, 2), of_c = bytes_of_a_product(st, 0);
    const bool sums_rows = adds_along_k(st);
    std::vector<double> out;
    for (const auto& t : tiles) {
        const double cycles = sums_rows ? cycles_of_row_sums(st, chip)
                              : t.products > 1
                                  ? packed_group_cycles(st, chip) / t.products
                                  : cycles_of_product(g, t, element) + cycles_of_copies(g, t, costs, chip);
        const double bytes = of_x_and_y + of_c * (sums_rows || t.products > 1 ? 1 : share_of_c(g, t));
        const double memory = bytes / (t.stages > 0 ? bytes_a_cycle_ahead : bytes_a_cycle);
        out.push_back(products * (std::max(cycles, memory) + std::min(cycles, memory) / 8) / clock);
    }
    return out;
}

} // namespace ricci::lowering
