// kernel_source_tile_transform: the prelude and arguments of the kernel that takes tiles through small matrices.
#include "runtime/kernel_source_families.hpp"

#include "lowering/sm_limits.hpp"
#include "lowering/tile_transform.hpp"
#include "runtime/prelude.hpp"
#include "runtime/tree_source.hpp"

#include <array>
#include <cstdint>

namespace ricci::runtime {

using namespace lowering;

kernel_request make_tile_transform(const step& st, const machine& chip) {
    const auto [directions, image, first, second] = st.tile;
    const auto around = around_node(st, transform_sum(st), image);
    const auto tile_axes = static_cast<std::int64_t>(st.axes.size()) - 2 * directions;
    const auto extents = [&](std::int64_t (*along)(const step&, std::size_t)) {
        return std::array{static_cast<std::int32_t>(along(st, 0)), static_cast<std::int32_t>(along(st, 1))};
    };
    prelude text;
    text.constant("left_axis_count", directions + tile_axes);
    write_tree(text, around);
    text.constant("directions", directions);
    text.constant("tile_axes", tile_axes);
    text.constant("sum_operand", image);
    text.list("matrix_operand", std::array{first, second});
    text.list("output_extent", extents(transformed_extent));
    text.list("input_extent", extents(source_extent));
    text.constant("transform_threads", transform_threads);
    constexpr int longest_side = 8, matrices = 2;
    constexpr int matrices_bytes = matrices * longest_side * longest_side * 4;
    text.constant("matrices_bytes", matrices_bytes);

    kernel_request out;
    out.source = complete_source(text.text(), "tile_transform.cuh");
    out.entry = "ricci_tile_transform";
    pack_tree(out, around, chip);
    argument_packer pack(out);
    const auto tiles = transformed_tiles(st);
    pack.number(tiles);
    pack.number(0);
    out.shape.grid = up(tiles, transform_threads);
    out.shape.threads = transform_threads;
    out.shape.shared_bytes = matrices_bytes;
    return out;
}

} // namespace ricci::runtime
