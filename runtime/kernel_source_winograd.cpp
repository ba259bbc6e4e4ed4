// kernel_source_winograd: the prelude and arguments of the kernel for convolutions by minimal filtering.
#include "runtime/kernel_source_families.hpp"

#include "lowering/sm_limits.hpp"
#include "lowering/winograd_layout.hpp"
#include "runtime/nvrtc_compiler.hpp"
#include "runtime/prelude.hpp"
#include "runtime/tree_source.hpp"

#include <array>
#include <cstdint>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// The tree around the sum over points, for which an access of the packed filters stands.
step around_sum(const step& of) {
    auto st = around_node(of, winograd_sum(of), static_cast<std::int32_t>(winograd_roles::filters));
    operand packed = st.operands[winograd_roles::filters]; // what winograd_filters fills
    packed.source = st.workspace.source, packed.offset = 0;
    st.operands.push_back(std::move(packed));
    return st;
}

} // namespace

kernel_request make_winograd(const step& st, const machine& chip) {
    const winograd_roles at(st);
    const auto& t = st.batched;
    const auto layout = winograd_layout_of(st, t);
    const auto around = around_sum(st);
    const auto extents = [&](std::size_t (winograd_roles::*axis)(std::size_t) const) {
        return std::array{static_cast<std::int32_t>(winograd_extent(st, axis, 0)),
                          static_cast<std::int32_t>(winograd_extent(st, axis, 1))};
    };
    prelude text;
    text.constant("left_axis_count", static_cast<std::int64_t>(at.filter() + 1));
    write_tree(text, around);
    text.constant("sum_operand", winograd_roles::filters);
    text.constant("packed_operand", static_cast<std::int64_t>(around.operands.size()) - 1);
    text.constant("directions", static_cast<std::int64_t>(at.directions));
    text.constant("tile_axes", static_cast<std::int64_t>(at.tiles));
    text.list("output_extent", extents(&winograd_roles::output));
    text.list("point_extent", extents(&winograd_roles::point));
    text.list("input_extent", extents(&winograd_roles::input));
    text.constant("transformed_type", static_cast<std::int64_t>(transformed_type(st)));
    text.flag("one_input_matrix", has_one_input_matrix(st));
    text.flag("rounds_to_tf32", st.math == math_mode::tf32);
    text.constant("rows_of_f64", 8);
    text.constant("filters_of_block", t.tile_m);
    text.constant("tiles_of_block", t.tile_n);
    text.constant("consumer_warps", layout.consumer_warps);
    text.constant("consumer_registers", layout.consumer_registers);
    text.constant("producer_registers", layout.producer_registers);
    text.constant("stages", t.stages);
    text.constant("stage_bytes", layout.stage_bytes);
    text.constant("filter_bytes", layout.filter_bytes);
    const auto vectors = input_vectors_of(st);
    text.constant("input_vector", vectors.length);
    text.constant("input_lead", vectors.lead);
    text.constant("filters_of_pass", layout.filters_of_pass);
    text.flag("filters_nearest", layout.filters_nearest);

    kernel_request out;
    out.source = complete_source(text.text(), "winograd_filters.cuh");
    out.entry = "ricci_winograd_filters";
    pack_tree(out, around, chip);
    argument_packer pack(out);
    pack.number(layout.tiles);
    pack.number(layout.filter_blocks);
    constexpr std::int64_t filter_threads = 256, warps = filter_threads / 32; // as winograd_filters.cuh has them
    const auto row_tiles = layout.filter_blocks * layout.points * t.tile_m / 16;
    out.shape.grid = up(row_tiles * layout.stage_count, warps);
    out.shape.threads = static_cast<int>(filter_threads);

    kernel_launch& convolution = out.behind.emplace_back();
    convolution.source = complete_source(text.text(), "winograd.cuh");
    if (layout.consumer_registers > 0) convolution.source.insert(0, architecture_specific_marker);
    convolution.entry = "ricci_winograd";
    convolution.shape.grid = layout.blocks(chip.processors);
    convolution.shape.threads = t.threads;
    convolution.shape.shared_bytes = static_cast<int>(layout.shared_bytes);
    return out;
}

} // namespace ricci::runtime
