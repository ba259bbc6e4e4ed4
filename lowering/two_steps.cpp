// two_steps: products that two steps compute: one into a temporary, and one from there.
#include "lowering/two_steps.hpp"

#include "lowering/families.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/tree.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace ricci::lowering {
namespace {

using enum axis_class;

std::int32_t last_of(const std::vector<node>& nodes) { return static_cast<std::int32_t>(nodes.size()) - 1; }

matrix_product product_of(const step& st) {
    matrix_product out;
    is_matrix_product(st.nodes, last_of(st.nodes), out);
    return out;
}

/// The right side of a step that scales operand 1, and adds it up along the axes of its sum if it has one.
void write_scaled(step& out, const std::vector<node>& from, const matrix_product& product) {
    auto& nodes = out.nodes;
    if (product.coefficient >= 0) nodes = subtree(from, product.coefficient);
    const auto coefficient = last_of(nodes);
    nodes.push_back({operation::access, 1});
    if (!out.sums.empty()) nodes.push_back({operation::sum, last_of(nodes), 0});
    if (coefficient >= 0) nodes.push_back({operation::multiply, coefficient, last_of(nodes)});
    if (product.negative) nodes.push_back({operation::negate, last_of(nodes)});
    prune(out);
}

/// The right side of a step that is nothing but its product.
void write_unscaled(step& st, std::int32_t sum) {
    auto& nodes = st.nodes;
    nodes = {{operation::access, st.x}};
    nodes.push_back({operation::access, st.y});
    if (st.x_conjugated) nodes.push_back({operation::conjugate, 0});
    const auto x = st.x_conjugated ? last_of(nodes) : 0;
    if (st.y_conjugated) nodes.push_back({operation::conjugate, 1});
    const auto y = st.y_conjugated ? last_of(nodes) : 1;
    nodes.push_back({operation::multiply, x, y});
    nodes.push_back({operation::sum, last_of(nodes), sum});
}

/// Of the sums in registers: 4 columns of X, or vectors of them, and as many of Y as there is room for.
batched_tile chunk_tile(const step& st, const machine& chip) {
    const std::int64_t parts = is_complex(st.compute) ? 2 : 1;
    batched_tile t;
    t.threads = 1;
    const auto rows = std::min<std::int64_t>(chip.vector_registers >= 32 ? 4 : 2, extent_of(st, m));
    const auto columns = std::max<std::int64_t>(1, (chip.vector_registers - rows - parts) / (rows * parts));
    t.tile_m = static_cast<std::int32_t>(rows);
    t.tile_n = static_cast<std::int32_t>(std::min(columns, extent_of(st, n)));
    return t;
}

} // namespace

bool is_scaled(const step& st) { return product_of(st).coefficient >= 0 || !st.beta.empty(); }

two_steps scaled_afterwards(step st, plan& p) {
    const auto product = product_of(st);
    const auto result = add_temporary(p, st.axes, st.operands[0].present, st.compute, {st.operands[0]});
    step scale;
    scale.op = st.op;
    scale.compute = st.compute;
    scale.group = st.group;
    scale.axes = st.axes;
    scale.operands = {st.operands[0], result};
    write_scaled(scale, st.nodes, product);
    scale.shape = form::pointwise;
    scale.beta = std::exchange(st.beta, {});
    st.operands[0] = result;
    st.op = assignment::assign;
    write_unscaled(st, product.sum);
    return {std::move(st), with_beta_in_tree(std::move(scale))};
}

two_steps added_in_chunks(step st, const machine& chip, plan& p) {
    const auto em = extent_of(st, m), en = extent_of(st, n), ek = extent_of(st, k);
    // The cut depends on the sizes only, never on what else runs.
    const auto chunks = std::min<std::int64_t>(64, (ek + 4095) / 4096);
    // Rows of a block: in columns 4 KB of each at a time, for the machine fetches few columns ahead; else what stays
    // in the first cache.
    const bool in_columns = single_step(st, st.x, k) == 1 && single_step(st, st.y, k) == 1;
    const auto fitting = static_cast<std::uint64_t>((24 << 10) / ((em + en) * size_of(st.compute)));
    const auto of_cache = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(fitting)), 8, 128);
    const auto rows = in_columns ? 4096 / size_of(st.compute) : of_cache;
    step partial = st;
    partial.op = assignment::assign;
    partial.tile = {static_cast<std::int32_t>(chunks), static_cast<std::int32_t>(rows), 0, 0};
    partial.batched = chunk_tile(st, chip);
    partial.axes.push_back({"chunk", chunks, true});
    for (auto& o : partial.operands) o.present.push_back(0), o.stride.push_back(0);
    partial.classes.push_back(other);
    auto present = st.operands[0].present;
    present.push_back(1);
    auto axes = st.axes;
    axes.push_back({"chunk", chunks, true});
    partial.operands[0] = add_temporary(p, axes, present, st.compute, {});

    step total;
    total.op = st.op;
    total.compute = st.compute;
    total.group = st.group;
    total.axes = axes;
    total.operands = {st.operands[0], partial.operands[0]};
    total.operands[0].present.push_back(0);
    total.operands[0].stride.push_back(0);
    total.sums = {{static_cast<std::int32_t>(axes.size()) - 1}};
    write_scaled(total, st.nodes, product_of(st));
    total.shape = form::reduction;
    total.beta = std::exchange(partial.beta, {});
    return {std::move(partial), with_beta_in_tree(std::move(total))};
}

} // namespace ricci::lowering
