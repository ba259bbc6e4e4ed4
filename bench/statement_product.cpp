// statement_product: the batch of matrix products that a statement is.
#include "bench/statement_product.hpp"

#include <ricci/lowering/lower.hpp>
#include <ricci/lowering/tree.hpp>

#include <algorithm>

namespace ricci::bench {

namespace {

using lowering::axis_class;

/// The step's axis of class `c`, or -1; false where there are several.
bool single_axis(const lowering::step& st, axis_class c, std::int32_t& axis) {
    axis = -1;
    for (std::size_t a = 0; a < st.classes.size(); ++a) {
        if (st.classes[a] != c) continue;
        if (axis >= 0) return false;
        axis = static_cast<std::int32_t>(a);
    }
    return true;
}

struct product_axes {
    std::int32_t m = -1, n = -1, k = -1, batch = -1;
};

std::optional<product_axes> axes_of(const lowering::step& st) {
    product_axes out;
    std::int32_t other = -1;
    const bool single = single_axis(st, axis_class::m, out.m) && single_axis(st, axis_class::n, out.n) &&
                        single_axis(st, axis_class::k, out.k) && single_axis(st, axis_class::batch, out.batch) &&
                        single_axis(st, axis_class::other, other);
    return single && other < 0 ? std::optional(out) : std::nullopt;
}

std::int64_t extent(const lowering::step& st, std::int32_t axis) {
    return axis < 0 ? 1 : st.axes[static_cast<std::size_t>(axis)].extent;
}

matrix matrix_of(const lowering::operand& o, std::int32_t row, std::int32_t column, std::int32_t batch) {
    const auto stride = [&](std::int32_t axis, std::int64_t without) {
        return axis < 0 ? without : o.stride[static_cast<std::size_t>(axis)];
    };
    matrix out;
    out.type = o.type;
    out.row_stride = stride(row, 1), out.column_stride = stride(column, 1), out.batch_stride = stride(batch, 0);
    return out;
}

} // namespace

std::optional<statement_product> product_of(const lowering::statement& s, const lowering::machine& chip) {
    const lowering::plan plan = lowering::lower(s, chip);
    if (plan.steps.size() != 1 || !plan.temporaries.empty()) return std::nullopt;
    const lowering::step& st = plan.steps.front();
    lowering::matrix_product found;
    if (st.classes.empty() || st.op == lowering::assignment::subtract ||
        !lowering::is_matrix_product(st.nodes, static_cast<std::int32_t>(st.nodes.size()) - 1, found) ||
        found.coefficient >= 0 || found.negative)
        return std::nullopt;
    const auto axes = axes_of(st);
    if (!axes) return std::nullopt;
    const auto& a = st.operands[static_cast<std::size_t>(st.x)];
    const auto& b = st.operands[static_cast<std::size_t>(st.y)];
    const auto& c = st.operands.front();
    for (const auto* o : {&a, &b, &c})
        if (!o->bounds.empty() || !o->gathers.empty() || o->in_place || o->source < 0) return std::nullopt;
    const void* const left = s.accesses.front().data;
    const bool read =
        std::any_of(s.accesses.begin() + 1, s.accesses.end(), [&](const auto& x) { return x.data == left; });
    if (read || c.offset != 0 || a.type != b.type) return std::nullopt;

    statement_product out;
    out.access = {a.source, b.source, c.source};
    out.offset = {a.offset, b.offset, c.offset};
    product& p = out.p;
    p.m = extent(st, axes->m), p.n = extent(st, axes->n), p.k = extent(st, axes->k),
    p.batch = extent(st, axes->batch);
    p.batched = axes->batch >= 0;
    p.accumulate = st.op == lowering::assignment::add;
    p.a_conjugated = st.x_conjugated && lowering::is_complex(a.type);
    p.b_conjugated = st.y_conjugated && lowering::is_complex(b.type);
    p.a = matrix_of(a, axes->m, axes->k, axes->batch);
    p.b = matrix_of(b, axes->k, axes->n, axes->batch);
    p.c = matrix_of(c, axes->m, axes->n, axes->batch);
    return out;
}

} // namespace ricci::bench
