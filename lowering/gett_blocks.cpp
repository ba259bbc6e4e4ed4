// gett_blocks: the parameters of a GPU's kernel for products whose sides and sum have any axes.
#include "lowering/gett_blocks.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/panel_model.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t most_block_side = 256; ///< a line of which has a thread for each element
constexpr std::int64_t most_sums = 64;        ///< registers a thread

/// The extents for which parameters are chosen: those that may change count as one of a few classes, so that few
/// kernels serve all batches and meshes. Or those that a step has.
enum class extents : std::uint8_t { of_class, here };

double extent_for(const step& st, axis_class c, extents which) {
    constexpr double sides[] = {1 << 11, 1 << 13, 1 << 18}, batches[] = {1, 16, 256, 4096};
    const auto axes = axes_of(st, c);
    const auto out = static_cast<double>(extent_of(st, c));
    const bool changes = c == batch || std::any_of(axes.begin(), axes.end(), [&](std::int32_t a) {
                             return st.axes[static_cast<std::size_t>(a)].variable;
                         });
    if (which == extents::here || !changes) return out;
    const auto classes = c == batch ? std::span<const double>(batches) : std::span<const double>(sides);
    const auto found = std::find_if(classes.begin(), classes.end(), [&](double x) { return out <= x; });
    return found == classes.end() ? classes.back() : *found;
}
/// Of the class.
double class_extent(const step& st, axis_class c) { return extent_for(st, c, extents::of_class); }

std::int64_t parts_of(const step& st) { return is_complex(st.compute) ? 2 : 1; }
std::int64_t bytes_of(const step& st, int o) { return size_of(operand_of(st, o).type); }

/// Padded positions of X (o: 1) or Y (2), at least one, as gett_places.cuh has them.
std::int64_t bounds_of(const step& st, int o) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(operand_of(st, o).bounds.size()));
}

/// Positions are added up in 32 bits, with room for those that are far outside.
bool has_small_positions(const step& st) {
    constexpr double most = 1 << 29;
    for (const int o : {1, 2})
        for (const auto& b : operand_of(st, o).bounds) {
            double reach = std::abs(static_cast<double>(b.offset));
            for (std::size_t a = 0; a < st.axes.size(); ++a)
                reach += std::abs(static_cast<double>(b.coefficient[a])) * static_cast<double>(st.axes[a].extent - 1);
            if (reach >= most || static_cast<double>(b.extent) >= most) return false;
        }
    return true;
}

std::int64_t sum_registers(const step& st, const batched_tile& t, const mma_shape* mma) {
    const auto words = size_of(real_of(st.compute)) / 4 * parts_of(st);
    return t.tile_m * t.tile_n * words * (mma == nullptr ? 1 : mma->rows / 4);
}

std::int64_t registers_of(const step& st, const batched_tile& t) {
    constexpr std::int64_t own = 70; // addresses of what is copied, among others
    const auto* mma = t.core == batched_core::mma ? mma_of(st, t) : nullptr;
    const auto sums = sum_registers(st, t, mma);
    if (mma == nullptr) return own + sums + (t.tile_m + t.tile_n) * size_of(st.compute) / 4;
    const auto numbers = (t.tile_m * (mma->rows / 8) + t.tile_n) * (4 / mma->splits) * mma->words * parts_of(st);
    const auto held = bytes_of(st, 1) == 2 ? (t.products + t.panel) * t.k_panel / t.threads : 0;
    return own + sums * (gett_sums_apart(st, t) ? 2 : 1) + numbers + held;
}

void add_stages(std::vector<batched_tile>& out, const step& st, batched_tile t, const machine& chip) {
    for (const int stages : {3, 2}) {
        t.stages = stages;
        if (gett_shared_bytes(st, t) <= chip.shared_bytes) return out.push_back(t);
    }
}

/// Blocks are no larger than what there is, but for one step of their sizes.
bool is_larger(double block, double extent) { return block > 16 && block >= 2 * extent; }

void add_mma_tiles(std::vector<batched_tile>& out, const step& st, batched_tile t, const machine& chip) {
    const double rows = class_extent(st, m), columns = class_extent(st, n);
    const auto* const mma =
        set_product(t, st, mma_of(st, chip), static_cast<std::int64_t>(t.c_transposed ? columns : rows), chip);
    panel_reads reads(st);
    for (const int tm : {1, 2, 4, 8})
        for (const int tn : {1, 2, 4, 8}) {
            t.tile_m = tm, t.tile_n = tn;
            if (sum_registers(st, t, mma) > most_sums) continue;
            for (const int warps : {1, 2, 4, 8})
                for (int high = 1; high <= warps; high *= 2) {
                    const auto down = high * tm * mma->rows, across = warps / high * tn * 8;
                    if (down > most_block_side || across > most_block_side) continue;
                    t.threads = warps * warp;
                    t.products = t.c_transposed ? across : down, t.panel = t.c_transposed ? down : across;
                    if (std::max({t.products, t.panel, t.k_panel}) > t.threads || is_larger(t.products, rows) ||
                        is_larger(t.panel, columns))
                        continue;
                    t.k_apart = reads.best_apart(t, t.k_panel);
                    add_stages(out, st, t, chip);
                }
        }
}

void add_fma_tiles(std::vector<batched_tile>& out, const step& st, batched_tile t, const machine& chip) {
    for (const int tm : {2, 4, 8})
        for (const int tn : {2, 4, 8})
            for (int high = 8; high <= 32; high *= 2) {
                t.tile_m = tm, t.tile_n = tn;
                t.threads = 256;
                t.products = high * tm, t.panel = 256 / high * tn;
                if (sum_registers(st, t, nullptr) > most_sums || t.products > t.threads || t.panel > t.threads ||
                    is_larger(t.products, class_extent(st, m)) || is_larger(t.panel, class_extent(st, n)))
                    continue;
                add_stages(out, st, t, chip);
            }
}

/// Elements of X (o: 1) or Y (2) that a copy brings: several where the kernel finds them in groups, gett_panels.cuh.
double elements_of_copy(const step& st, int o, const panel_layout& layout) {
    const auto& x = operand_of(st, o);
    const auto group = 16 / bytes_of(st, o);
    const bool along_k = layout.lines[static_cast<std::size_t>(o)] == panel_lines::k;
    const auto axes = axes_of(st, along_k ? k : o == 1 ? m : n);
    if (group <= 1 || axes.empty()) return 1;
    const auto first = static_cast<std::size_t>(axes.front());
    if (x.stride[first] != 1 || st.axes[first].extent % group != 0) return 1;
    for (std::size_t a = 0; a < st.axes.size(); ++a)
        if (a != first && x.stride[a] % group != 0) return 1;
    const bool moves =
        std::any_of(x.bounds.begin(), x.bounds.end(), [&](const bound& b) { return b.coefficient[first] != 0; });
    return moves ? 1 : static_cast<double>(group);
}

/// Cycles of an SM for a panel of a block, if it had no other to wait for; fitted to an H100's convolutions of 64 to
/// 512 channels.
double panel_cycles(const step& st, const batched_tile& t) {
    constexpr double issues_a_cycle = 4, of_panel = 60, not_hidden = 0.7;
    constexpr double of_copy = 9, of_narrow_copy = 40; // of an instruction's own; by way of registers
    const auto layout = panel_layout_of(st, t);
    const double warps = t.threads / warp, blocks = t.k_panel / 16.0;
    double copying = 0;
    for (const int o : {1, 2}) {
        const double together = elements_of_copy(st, o, layout);
        copying += t.k_panel * (o == 1 ? t.products : t.panel) / together *
                   (bytes_of(st, o) == 2 && together == 1 ? of_narrow_copy : of_copy);
    }
    const double parts = static_cast<double>(parts_of(st)), tiles = t.tile_m * t.tile_n;
    double multiplying = 0, issue = of_panel + copying / t.threads;
    if (t.core == batched_core::mma) {
        const auto& mma = *mma_of(st, t);
        const double products = tiles * blocks * mma.splits * (parts > 1 ? 4 : 1),
                     numbers = (t.tile_m * (mma.rows / 8) + t.tile_n) * 4 * blocks * parts;
        const double of_number = layout.fragments == fragment_load::matrices ? 0.125 : mma.issue + 1;
        multiplying = warps * products * fitted_cycles(mma);
        issue += products * mma.repeats + numbers * of_number +
                 (gett_sums_apart(st, t) ? tiles * mma.rows / 4 * parts : 0);
    } else {
        const double of_sm = size_of(real_of(st.compute)) == 8 ? 64 : 128,
                     adds = tiles * t.k_panel * (parts > 1 ? 4 : 1);
        multiplying = t.threads * adds / of_sm;
        issue += adds + (t.tile_m + t.tile_n) * t.k_panel * 3 * parts;
    }
    issue *= warps / issues_a_cycle;
    return std::max(multiplying, issue) + not_hidden * std::min(multiplying, issue);
}

double seconds_of(const step& st, const batched_tile& t, const machine& chip, extents which) {
    const auto extent = [&](axis_class c) { return extent_for(st, c, which); };
    constexpr double at_ends = 4000; // cycles: places, the first panels, C
    constexpr double l2_rate = 1.6;  // of memory's
    const double panels = std::ceil(extent(k) / t.k_panel);
    const double blocks = std::ceil(extent(m) / t.products) * std::ceil(extent(n) / t.panel) * extent(batch);
    const auto resident = static_cast<double>(gett_resident_blocks(st, t, chip));
    const double of_panel = panel_cycles(st, t);
    // Few warps do not hide what each waits for.
    const auto together = [&](double of_sm) {
        constexpr double enough = 8, not_hidden = 0.3;
        const double warps = of_sm * t.threads / warp;
        return panels * of_panel * of_sm * (1 + not_hidden * std::max(enough / warps - 1, 0.0)) + at_ends;
    };
    const double at_once = chip.processors * resident, rounds = std::floor(blocks / at_once),
                 left = std::ceil((blocks - rounds * at_once) / chip.processors);
    const double cycles = rounds * together(resident) + (left > 0 ? together(left) : 0);
    const double panel_bytes = static_cast<double>(t.products * bytes_of(st, 1) + t.panel * bytes_of(st, 2));
    const double l2_bytes = blocks * extent(k) * panel_bytes;
    const double c_bytes = extent(m) * extent(n) * extent(batch) * static_cast<double>(bytes_of(st, 0)) *
                           (st.op == assignment::assign ? 1 : 2);
    return std::max({cycles / sm_clock(chip), l2_bytes / (l2_rate * chip.bandwidth), c_bytes / chip.bandwidth}) +
           chip.launch_seconds;
}

} // namespace

bool gett_sums_apart(const step& st, const batched_tile& t) {
    constexpr std::int64_t longest = 4096; ///< steps
    if (t.core == batched_core::mma && mma_of(st, t)->repeats > 1) return true;
    return real_of(st.compute) == scalar_type::f32 && extent_of(st, k) > longest;
}

std::int64_t gett_places_bytes(const step& st, const batched_tile& t) {
    std::int64_t bytes = 0;
    for (const int o : {1, 2})
        bytes += ((o == 1 ? t.products : t.panel) + 2 * t.threads) * up(8 + 4 * bounds_of(st, o), 16) * 16;
    return bytes;
}

std::int64_t gett_shared_bytes(const step& st, const batched_tile& t) {
    return t.stages * panel_layout_of(st, t).stage_bytes + gett_places_bytes(st, t);
}

std::int64_t gett_resident_blocks(const step& st, const batched_tile& t, const machine& chip) {
    constexpr std::int64_t most = 4;
    const auto by_registers = registers_of_an_sm / (up(registers_of(st, t), 8) * 8 * t.threads);
    const auto by_shared = shared_of_an_sm(chip) / (gett_shared_bytes(st, t) + shared_of_a_block);
    return std::clamp<std::int64_t>(std::min(by_registers, by_shared), 1, most);
}

std::int64_t gett_block_count(const step& st, const batched_tile& t) {
    return up(extent_of(st, m), t.products) * up(extent_of(st, n), t.panel) * extent_of(st, batch);
}

step with_long_rows(step st) {
    return class_extent(st, m) < class_extent(st, n) ? with_sides_swapped(std::move(st)) : st;
}

bool fits_gett_blocks(const step& st, const machine& chip) {
    constexpr std::int64_t least_steps = 8, longest = 1LL << 31;
    for (const auto c : {m, n, k})
        if (extent_of(st, c) >= longest) return false;
    if (extent_of(st, k) < least_steps || !has_small_positions(st)) return false;
    auto of_kernel = st;
    of_kernel.kernel = family::gett;
    const auto seconds = gett_block_seconds(of_kernel, gett_block_tiles(of_kernel, chip), chip);
    if (seconds.empty()) return false;
    // Element by element: 4.9e12 multiply-adds a second of a convolution of 64 channels in f32 (H100).
    constexpr double of_direct = 20;
    const double adds = class_extent(st, m) * class_extent(st, n) * class_extent(st, k) * class_extent(st, batch);
    const double direct = adds * (is_complex(st.compute) ? 4 : 1) / (of_direct * chip.processors * sm_clock(chip));
    return *std::min_element(seconds.begin(), seconds.end()) < direct + chip.launch_seconds;
}

std::vector<batched_tile> gett_block_tiles(const step& st, const machine& chip) {
    const auto* const mma = mma_of(st, chip);
    auto t = start_tile(st, mma);
    t.k_unrolled = 1; // two of f32, whose sums are made apart, take more registers than there are
    const auto largest = std::max(bytes_of(st, 1), bytes_of(st, 2));
    std::vector<batched_tile> out;
    for (const int steps : {16, 32, 64}) {
        constexpr std::int64_t least_bytes = 64, most_bytes = 128; // of a line along the sum
        if (steps * largest < least_bytes || (steps * largest > most_bytes && steps > 16)) continue;
        t.k_panel = steps;
        mma != nullptr ? add_mma_tiles(out, st, t, chip) : add_fma_tiles(out, st, t, chip);
    }
    return out;
}

std::vector<double> gett_block_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip) {
    std::vector<double> out;
    for (const auto& t : tiles) out.push_back(seconds_of(st, t, chip, extents::of_class));
    return out;
}

double gett_block_seconds_here(const step& st, const batched_tile& tile, const machine& chip) {
    return seconds_of(st, tile, chip, extents::here);
}

} // namespace ricci::lowering
