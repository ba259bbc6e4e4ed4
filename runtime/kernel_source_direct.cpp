// kernel_source_direct: the prelude and arguments of the direct kernel.
#include "runtime/kernel_source_families.hpp"

#include "lowering/cost_model.hpp"
#include "lowering/families.hpp"
#include "lowering/temporaries.hpp"
#include "runtime/prelude.hpp"
#include "runtime/tree_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// Threads that a GPU's multiprocessor holds, and how many times over they may be filled before teams stop paying. A
/// guess to be replaced by the tuner.
constexpr std::int64_t threads_to_fill = 2048, team_advantage = 8;

std::int32_t left_axis_count(const step& st) {
    std::int32_t count = 0;
    while (count < static_cast<std::int32_t>(st.axes.size()) &&
           st.operands[0].present[static_cast<std::size_t>(count)])
        ++count;
    return count; // fuse_axes put the output's axes first
}

/// How a CPU's kernel goes through the output, see kernels/direct_cpu.hpp.
struct cpu_tiles {
    std::int32_t axis = -1, size = 1, rows = 1, sums = 0;
    std::int64_t row_part = 1; ///< elements
};

/// Lines of memory hold 64 bytes; wider tiles would not stay in the cache where rows are powers of two long, since
/// their lines lie in one set of 8 to 12. Of rows 256 at a time are 1.6 times as fast as 64 where three axes are
/// reversed (200 x 300 x 250 f64), and as fast for matrices: 3000 x 4000 at 47 % of the triad, 4096 x 4096 at 26, as
/// loops by hand are.
cpu_tiles tiles_of(const step& st, std::int32_t left_axes) {
    constexpr std::int64_t line = 64;
    cpu_tiles out;
    if (left_axes == 0) return out;
    out.size = static_cast<std::int32_t>(std::max<std::int64_t>(line / size_of(st.operands[0].type), 8));
    out.rows = 32 * out.size;
    // Work for a thread: some microseconds of it for the longer ones, and enough parts where each element is a sum.
    out.row_part = st.sums.empty() ? 4096 : 512;
    const auto nearest = [](const operand& o, std::size_t axis) {
        return o.present[axis] && o.stride[axis] != 0 ? std::abs(o.stride[axis])
                                                      : std::numeric_limits<std::int64_t>::max();
    };
    if (st.nodes.back().kind == operation::sum) {
        const auto& list = st.sums[static_cast<std::size_t>(st.nodes.back().b)];
        const auto inner = list.empty() ? std::size_t{0} : static_cast<std::size_t>(list.back());
        constexpr std::int64_t neighbors = 1024; // bytes: so long rows a core fetches ahead by itself
        const bool rows = std::any_of(st.operands.begin() + 1, st.operands.end(), [&](const auto& o) {
            return o.gathers.empty() && o.present[inner] && nearest(o, 0) < nearest(o, inner);
        });
        if (!list.empty() && rows) out.sums = static_cast<std::int32_t>(neighbors / size_of(st.compute));
    }
    const auto is_long = [&](std::size_t axis) { return st.axes[axis].variable || st.axes[axis].extent > 1; };
    for (std::size_t o = 1; o < st.operands.size() && out.axis < 0; ++o)
        for (std::int32_t a = 1; a < left_axes; ++a) {
            const auto axis = static_cast<std::size_t>(a);
            const auto& from = st.operands[o];
            if (from.gathers.empty() && from.present[0] && is_long(axis) && is_long(0) && nearest(from, axis) == 1 &&
                nearest(from, 0) > 1)
                out.axis = a;
        }
    return out;
}

} // namespace

kernel_request make_direct(const step& st, const machine& chip) {
    kernel_request out;
    const bool cuda = chip.kind == target::cuda;
    const auto left_axes = left_axis_count(st);

    prelude text;
    text.constant("left_axis_count", left_axes);
    write_tree(text, st);
    const auto tiles = cuda ? cpu_tiles() : tiles_of(st, left_axes);
    if (cuda) {
        text.constant("team_threads", st.tile[0]);
        text.constant("items_of_thread", st.tile[1]);
    } else {
        text.constant("row_part", tiles.row_part);
        text.constant("tile_axis", tiles.axis);
        text.constant("tile", tiles.size);
        text.constant("tile_rows", tiles.rows);
        text.constant("sums_tile", tiles.sums);
        constexpr std::int64_t vectors = 4; // so many hide what an addition takes
        const auto lanes = tiles.sums > 0 ? 0 : vectors * chip.vector_bytes / size_of(st.compute);
        text.constant("sum_lanes", lanes);
    }
    out.source = complete_source(text.text(), cuda ? "direct.cuh" : "direct_cpu.hpp");
    out.entry = "ricci_direct";

    pack_tree(out, st, chip);
    argument_packer pack(out);
    const auto elements = element_count(st.axes, st.operands[0].present);
    const double seconds = cost_model(st, chip).seconds - chip.launch_seconds;
    if (cuda) {
        // A team for each element, unless there are elements enough to keep every thread busy alone.
        const bool teams =
            st.tile[0] > 1 && elements * st.tile[0] < threads_to_fill * chip.processors * team_advantage;
        pack.number(elements);
        pack.number(teams);
        const std::int64_t per_block = teams ? direct_threads / st.tile[0] : direct_threads * st.tile[1];
        out.shape.grid = (elements + per_block - 1) / per_block;
        out.shape.threads = direct_threads;
        out.shape.shared_bytes =
            st.tile[0] == direct_threads ? direct_threads / 32 * static_cast<int>(size_of(st.compute)) : 0;
    } else {
        const auto row = left_axes > 0 ? std::max<std::int64_t>(st.axes[0].extent, 1) : 1;
        out.shape.grid = elements / row * ((row + tiles.row_part - 1) / tiles.row_part);
        if (tiles.axis >= 0) {
            const auto rows = std::max<std::int64_t>(st.axes[static_cast<std::size_t>(tiles.axis)].extent, 1);
            out.shape.grid = out.shape.grid / rows * ((rows + tiles.rows - 1) / tiles.rows);
        }
        pack.number(out.shape.grid);
        pack.number(0);
        out.shape.seconds_per_block =
            seconds * chip.processors / static_cast<double>(std::max<std::int64_t>(out.shape.grid, 1));
    }
    return out;
}

} // namespace ricci::runtime
