// kernel_source_scatter: the prelude and arguments of the scatter kernel.
#include "runtime/kernel_source_families.hpp"

#include "lowering/cost_model.hpp"
#include "lowering/scatter_shape.hpp"
#include "runtime/prelude.hpp"
#include "runtime/tree_source.hpp"

#include <algorithm>

namespace ricci::runtime {
namespace {

using namespace lowering;

constexpr std::int32_t scatter_threads = 256;
/// The longest axis whose extent a CPU's kernel has as a constant: components of a vector, of a tensor.
constexpr std::int64_t longest_whole = 9;
/// Rows of a CPU's work item: some microseconds of work.
constexpr std::int64_t row_part = 1024;

/// The step as its kernel sees it: what the inverse says is not in the output's operand.
step without_tables(step st, const scatter_shape& shape) {
    auto& left = st.operands[0];
    left.offset += shape.lowest;
    for (const auto a : shape.axes) left.stride[static_cast<std::size_t>(a)] = 0;
    auto gathers = std::move(left.gathers);
    left.gathers.clear();
    for (std::size_t g = 0; g < gathers.size(); ++g)
        if (!shape.has_gather(g)) left.gathers.push_back(gathers[g]);
    return st;
}

} // namespace

kernel_request make_scatter(const step& st, const machine& chip) {
    const bool cuda = chip.kind == target::cuda;
    const auto shape = scatter_shape_of(st);
    std::vector<std::int32_t> free;
    std::int32_t nearer = 0;
    std::int64_t combinations = 1;
    for (std::size_t a = 0; a < st.axes.size(); ++a) {
        if (!st.operands[0].present[a] || shape.has_axis(a)) continue;
        free.push_back(static_cast<std::int32_t>(a));
        if (shape.axes.empty() || static_cast<std::int32_t>(a) < shape.axes.front()) ++nearer;
        combinations *= st.axes[a].extent;
    }
    const bool has_inner = nearer > 0 && st.axes[static_cast<std::size_t>(free.front())].extent > 1;
    const std::int64_t inner = has_inner ? st.axes[static_cast<std::size_t>(free.front())].extent : 1;

    kernel_request out;
    const auto seen = without_tables(st, shape);
    prelude text;
    text.constant("left_axis_count", 0);
    write_tree(text, seen);
    text.constant("list_axis_count", static_cast<std::int64_t>(shape.axes.size()));
    text.list("list_axis", shape.axes);
    text.constant("free_axis_count", static_cast<std::int64_t>(free.size()));
    text.list("free_axis", free);
    text.constant("nearer_axis_count", nearer);
    const auto type_of_numbers = [](bool wide) {
        return static_cast<std::int64_t>(wide ? scalar_type::i64 : scalar_type::i32);
    };
    text.constant("list_type", type_of_numbers(shape.has_wide_list()));
    text.constant("key_type", type_of_numbers(shape.has_wide_keys()));
    text.constant("rows_together", row_lists::rows_together);
    text.constant("longest_row_in_order", longest_row_in_order);
    if (!cuda) {
        text.constant("row_part", row_part);
        const bool whole = has_inner && inner <= longest_whole && !st.dynamic_extents;
        const auto tile = 2 * chip.vector_bytes / size_of(real_of(st.compute));
        text.constant("inner_tile", whole ? inner : has_inner ? tile : 0);
        text.flag("inner_is_tile", whole);
    }
    out.source = complete_source(text.text(), cuda ? "scatter.cuh" : "scatter_cpu.hpp");
    out.entry = "ricci_scatter";

    pack_tree(out, seen, chip);
    argument_packer pack(out);
    using what = argument_patch::value;
    pack.number(combinations);
    pack.number(0);
    for (const auto w : {what::rows, what::row_begins, what::row_behind, what::row_entries, what::row_keys})
        pack.patch(w, 0);
    pack.number(shape.unit);
    pack.patch(what::start_from_zero, 0);

    out.by_rows = cuda ? row_grid{combinations, scatter_threads, 1} : row_grid{1, row_part, combinations / inner};
    out.shape.threads = scatter_threads;
    out.shape.grid = out.by_rows.grid_of(shape.most_targets());
    const double seconds = cost_model(st, chip).seconds - chip.launch_seconds;
    out.shape.seconds_per_block =
        seconds * chip.processors / static_cast<double>(std::max<std::int64_t>(out.shape.grid, 1));
    return out;
}

} // namespace ricci::runtime
