// tall_batch: a product with a long side as a batch of products of a few of its rows.
#include "lowering/tall_batch.hpp"

#include "lowering/cost_model.hpp"
#include "lowering/families.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ricci::lowering {
namespace {

using enum axis_class;

const operand& tall_operand(const step& st, axis_class side) {
    return st.operands[static_cast<std::size_t>(side == m ? st.x : st.y)];
}

/// Of one operand along axis `down`.
tall_order order_of(const step& st, const operand& o, std::size_t down, axis_class across) {
    const auto axes = axes_of(st, across);
    if (axes.size() != 1 || !o.gathers.empty()) return tall_order::none;
    const auto a = static_cast<std::size_t>(axes.front());
    if (o.stride[a] == 1 && o.stride[down] == st.axes[a].extent) return tall_order::rows;
    const bool columns = o.stride[down] == 1 && o.stride[a] >= st.axes[down].extent;
    return columns && o.stride[a] * size_of(o.type) % 16 == 0 ? tall_order::columns : tall_order::none;
}

bool has_one_long_axis(const step& st, axis_class side) {
    return axes_of(st, side).size() == 1 && axes_of(st, batch).empty() && st.operands.size() == 3;
}

/// Of C and of the operand with the long side, if it is the same.
tall_order order_of(const step& st, axis_class side) {
    if (!has_one_long_axis(st, side)) return tall_order::none;
    const auto down = static_cast<std::size_t>(axes_of(st, side).front());
    const auto out = order_of(st, st.operands[0], down, side == m ? n : m);
    return out == order_of(st, tall_operand(st, side), down, k) ? out : tall_order::none;
}

bool is_wide_enough(const step& st, axis_class side, tall_order order) {
    const auto width = extent_of(st, side == m ? n : m), ek = extent_of(st, k);
    const auto bytes = size_of(tall_operand(st, side).type);
    if (order == tall_order::rows) return std::max(width, ek) >= (bytes == 2 ? 8 : 9);
    return order == tall_order::columns && std::min(width, ek) > 16 && bytes == 2; // others move in boxes
}

/// A power of two.
std::int64_t rows_of_a_product(const step& st, axis_class side, const machine& chip) {
    // Whole vectors of every type; in columns longer pieces of each, for a machine fetches few of them ahead.
    if (chip.kind == target::cpu) return std::abs(single_step(st, 0, side)) == 1 ? 128 : 64;
    constexpr double least = 16, most = 64, rounding = 0.5; // of the other operand's few bytes
    const double row_bytes = cost_model(st, chip).bytes / static_cast<double>(extent_of(st, side));
    const double rows = std::clamp(bytes_of_a_busy_processor / 2 / row_bytes + rounding, least, most);
    return power_of_two_to(static_cast<std::int64_t>(rows));
}

/// How a batch of its rows would lie; none where that is not worth it.
tall_order order_of_rows(const step& st, axis_class side, const machine& chip) {
    if (extent_of(st, k) < 2) return tall_order::none;
    if (chip.kind == target::cpu) return has_one_long_axis(st, side) ? tall_order::rows : tall_order::none;
    if (!has_bulk_copies(chip) || !keeps_busy(st, chip)) return tall_order::none;
    const auto order = order_of(st, side);
    return is_wide_enough(st, side, order) ? order : tall_order::none;
}

/// The axis becomes one of `rows` from row `first` on.
void keep_rows(step& st, std::size_t axis, std::int64_t first, std::int64_t rows) {
    for (auto& o : st.operands)
        if (o.present[axis]) o.offset += first * o.stride[axis];
    st.axes[axis].extent = rows;
}

} // namespace

std::optional<tall_batch> as_batch(const step& st, axis_class side, const machine& chip) {
    const auto order = order_of_rows(st, side, chip);
    if (order == tall_order::none) return std::nullopt;
    const auto down = static_cast<std::size_t>(axes_of(st, side).front());
    const auto rows = rows_of_a_product(st, side, chip), all = st.axes[down].extent;
    // never one row: what an axis of one element steps over is an argument of a kernel, elsewhere a constant
    const auto left = all % rows == 1 && all > rows ? rows + 1 : all % rows, count = (all - left) / rows;
    tall_batch out{order, st, std::nullopt};
    keep_rows(out.products, down, 0, rows);
    out.products.axes.push_back({"rows", count, st.axes[down].variable});
    out.products.axes[down].variable = false;
    out.products.classes.push_back(batch);
    for (auto& o : out.products.operands) {
        o.stride.push_back(o.stride[down] * rows);
        o.present.push_back(o.present[down]);
    }
    if (left > 0) {
        out.rest = st;
        keep_rows(*out.rest, down, count * rows, left);
    }
    return out;
}

} // namespace ricci::lowering
