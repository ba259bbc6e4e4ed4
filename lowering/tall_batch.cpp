// tall_batch: a product with a long side as a batch of products of a few of its rows.
#include "lowering/tall_batch.hpp"

#include "lowering/families.hpp"

#include <utility>

namespace ricci::lowering {
namespace {

using enum axis_class;

/// Whether an operand is row after row along axis `down`, with nothing between.
bool has_rows(const step& st, const operand& o, std::size_t down, axis_class across) {
    const auto axes = axes_of(st, across);
    if (axes.size() != 1 || !o.gathers.empty()) return false;
    const auto a = static_cast<std::size_t>(axes.front());
    return o.stride[a] == 1 && o.stride[down] == st.axes[a].extent;
}

/// The axis becomes one of `rows` from row `first` on.
void keep_rows(step& st, std::size_t axis, std::int64_t first, std::int64_t rows) {
    for (auto& o : st.operands)
        if (o.present[axis]) o.offset += first * o.stride[axis];
    st.axes[axis].extent = rows;
}

} // namespace

std::optional<tall_batch> batch_of_rows(const step& st, axis_class side, std::int64_t rows) {
    const auto axes = axes_of(st, side);
    if (axes.size() != 1 || !axes_of(st, batch).empty() || st.operands.size() != 3) return std::nullopt;
    const auto down = static_cast<std::size_t>(axes.front());
    const auto& tall = st.operands[static_cast<std::size_t>(side == m ? st.x : st.y)];
    if (!has_rows(st, st.operands[0], down, side == m ? n : m) || !has_rows(st, tall, down, k)) return std::nullopt;

    const auto all = st.axes[down].extent, count = all / rows;
    tall_batch out{st, std::nullopt};
    keep_rows(out.products, down, 0, rows);
    out.products.axes.push_back({st.axes[down].name, count, st.axes[down].variable});
    out.products.axes[down].variable = false;
    out.products.classes.push_back(batch);
    for (auto& o : out.products.operands) {
        o.stride.push_back(o.stride[down] * rows);
        o.present.push_back(o.present[down]);
    }
    if (all % rows > 0) {
        out.rest = st;
        keep_rows(*out.rest, down, count * rows, all % rows);
    }
    return out;
}

} // namespace ricci::lowering
