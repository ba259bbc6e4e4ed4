// panel_shifts: tall-skinny A^T B whose columns start anywhere, as boxes bring their panels.
#include "lowering/panel_shifts.hpp"

#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t most_steps = 128; ///< of a box, whose lines have 256 numbers at the most

struct columns {
    std::int64_t bytes;           ///< of an element
    std::int64_t count, residues; ///< columns; those that may start differently
    std::int64_t stride, length;  ///< elements
};
columns columns_of(const step& st, int o) {
    const auto& x = operand_of(st, o);
    const auto side = static_cast<std::size_t>(axes_of(st, o == 1 ? m : n).front()),
               along = static_cast<std::size_t>(axes_of(st, k).front());
    const auto bytes = size_of(x.type);
    return {bytes, st.axes[side].extent, 16 / bytes, x.stride[side], st.axes[along].extent};
}

} // namespace

bool has_shifted_panels(const step& st, const machine& chip) {
    if (!boxes_of(st, 1, k, m, chip) || !boxes_of(st, 2, k, n, chip)) return false;
    for (const int o : {1, 2}) {
        const auto c = columns_of(st, o);
        constexpr std::int64_t most_bytes = std::int64_t{16} << 30; // planes 16 bytes apart are counted by ints
        if (c.count < c.residues || c.residues * c.stride * c.bytes > most_bytes) return false;
    }
    return true;
}

std::int64_t shifting_warps(const step& st, const batched_tile& t) { return mma_of(st, t)->repeats > 1 ? 4 : 1; }

shifted_panel_layout shifted_panel_layout_of(const step& st, const batched_tile& t) {
    shifted_panel_layout out;
    out.steps = std::min<std::int64_t>(t.k_panel, most_steps);
    for (const int o : {1, 2}) {
        const auto at = static_cast<std::size_t>(o);
        const auto c = columns_of(st, o);
        const auto boxes = t.k_panel / out.steps * c.residues;
        out.box_bytes[at] = up(up(c.count, c.residues) * (out.steps + c.residues) * c.bytes, 128) * 128;
        out.region[at] = out.stage_bytes;
        out.stage_bytes += boxes * out.box_bytes[at], out.boxes += boxes;
    }
    return out;
}

bool has_fewer_columns(const step& st, int o) {
    const auto c = columns_of(st, o);
    return c.count % c.residues != 0;
}

box_layout shifted_panel_boxes(const step& st, int o, const batched_tile& t, shifted_columns of) {
    const auto c = columns_of(st, o);
    const auto steps = shifted_panel_layout_of(st, t).steps, most = up(c.count, c.residues);
    const auto last = (c.residues - 1) * c.stride; // of the first lines, from the first one on
    return {c.bytes,
            {up(c.length + c.residues - 1, c.residues) * c.residues,
             of == shifted_columns::most ? most : c.count / c.residues, up(last, c.residues) + 1},
            {c.stride * c.residues * c.bytes, 16},
            {steps + c.residues, most, 1},
            false,
            ((c.count - 1) * c.stride + c.length) * c.bytes,
            -1};
}

} // namespace ricci::lowering
