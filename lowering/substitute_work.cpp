// substitute_work: see the header.
#include "lowering/substitute_work.hpp"

#include <cmath>

namespace ricci::lowering {

substitute_work::substitute_work(const step& st) : sizes(matrix_sizes_of(st)), method(st.matrices.method) {
    using enum matrix_method;
    size = size_of(st.compute), parts = is_complex(st.compute) ? 2 : 1, real_size = size / parts;
    applies_q = method == qr || method == apply_q || method == apply_qh || method == form_q;
    solves = method <= triangular, has_pivots = method == lu, of_adjoint = st.matrices.adjoint;
    work_rows = applies_q ? sizes.m : sizes.n, solution_rows = solves ? sizes.n : sizes.m;
    reflectors = std::min(sizes.m, sizes.n);
    if (operand_in(st, matrix_role::vector) != nullptr) vector_bytes = has_pivots ? 4 * sizes.n : size * reflectors;
    const auto* const o = operand_in(st, matrix_role::matrix);
    const auto along = [&](std::int32_t axis) {
        return o == nullptr || axis < 0 ? 0 : o->stride[static_cast<std::size_t>(axis)];
    };
    row = along(st.matrices.row), column = along(st.matrices.column);
    const auto axes = batch_of_matrices(st);
    distance = distance_in_span(st);
    if (!axes.empty()) batch = along(axes[0]), neighbors = st.axes[static_cast<std::size_t>(axes[0])].extent;
}

batched_tile substitute_tile(std::int64_t products, std::int64_t threads, std::int64_t lanes, std::int64_t sides,
                             int stages, bool in_slabs) {
    batched_tile t;
    t.products = static_cast<std::int32_t>(products), t.threads = static_cast<std::int32_t>(threads);
    t.tile_m = static_cast<std::int32_t>(lanes), t.tile_n = static_cast<std::int32_t>(sides);
    t.stages = stages, t.boxed = in_slabs;
    return t;
}

double substitute_work::steps() const {
    const auto n = static_cast<double>(sizes.n), k = static_cast<double>(reflectors);
    if (method == matrix_method::qr) return n + 2 * k;
    if (applies_q) return 2 * k;
    return method == matrix_method::triangular ? n : 2 * n;
}

double substitute_work::bytes_moved() const {
    const auto sides = static_cast<double>((work_rows + solution_rows) * sizes.r);
    return (static_cast<double>(sizes.m * sizes.n) + sides) * static_cast<double>(size) +
           static_cast<double>(vector_bytes);
}

double substitute_work::seconds(double matrices, double products, double room, double taken, double waited,
                                const machine& chip) const {
    if (matrices == 0) return 0;
    const auto blocks = matrices / products / chip.processors; // of an SM
    const auto cycles = std::hypot(std::max(blocks, 1.0) * taken, std::max(blocks / room, 1.0) * waited);
    return std::hypot(matrices * bytes_moved() / chip.bandwidth, cycles / sm_clock(chip));
}

double rated_matrices(std::int64_t matrices, const machine& chip) {
    const auto of_an_sm = static_cast<double>(matrices) / chip.processors;
    return chip.processors * (of_an_sm < 4 ? 1.0 : of_an_sm < 32 ? 8.0 : 800.0);
}

} // namespace ricci::lowering
