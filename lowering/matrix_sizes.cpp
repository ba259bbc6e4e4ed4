// matrix_sizes: sizes, batch and operands of steps that work on matrices.
#include "lowering/matrix_sizes.hpp"

#include <cstdint>
#include <cstdlib>

namespace ricci::lowering {
namespace {

std::int64_t extent_of_axis(const step& st, std::int32_t a) {
    return a < 0 ? 0 : st.axes[static_cast<std::size_t>(a)].extent;
}

} // namespace

std::vector<std::int32_t> batch_of_matrices(const step& st) {
    const auto& w = st.matrices;
    std::vector<std::int32_t> out;
    for (std::int32_t a = 0; a < static_cast<std::int32_t>(st.axes.size()); ++a)
        if (a != w.row && a != w.column && a != w.right && a != w.along_vector && a != w.given_row &&
            a != w.solution_row)
            out.push_back(a);
    return out;
}

matrix_sizes matrix_sizes_of(const step& st) {
    const auto& w = st.matrices;
    matrix_sizes out{extent_of_axis(st, w.row), extent_of_axis(st, w.column), extent_of_axis(st, w.right)};
    for (const auto a : batch_of_matrices(st)) out.matrices *= extent_of_axis(st, a);
    return out;
}

std::int64_t distance_in_span(const step& st) {
    const auto* const o = operand_in(st, matrix_role::matrix);
    if (o == nullptr) return 0;
    const auto s = matrix_sizes_of(st);
    const auto stride = [&](std::int32_t axis) { return o->stride[static_cast<std::size_t>(axis)]; };
    const auto along = stride(st.matrices.row), across = stride(st.matrices.column);
    // along an axis of extent 1 nothing is read
    const bool by_columns = (s.m == 1 || along == 1) && (s.n == 1 || across >= s.m),
               by_rows = (s.n == 1 || across == 1) && (s.m == 1 || along >= s.n);
    if (!by_columns && !by_rows) return 0;
    const auto out = by_columns ? (s.n == 1 ? s.m : across * s.n) : (s.m == 1 ? s.n : along * s.m);
    auto next = out;
    for (const auto a : batch_of_matrices(st)) {
        const auto extent = extent_of_axis(st, a);
        if (extent == 1) {
            // a batch of one: of longer ones, matrices would lie between one another's elements
            if (stride(a) != 0 && std::abs(stride(a)) < out) return 0;
            continue;
        }
        if (stride(a) != next) return 0;
        next *= extent;
    }
    return out;
}

bool matrices_are_dense(const step& st) {
    const auto s = matrix_sizes_of(st);
    return s.vector() > 0 && distance_in_span(st) == s.m * s.n;
}

const operand* operand_in(const step& st, matrix_role r) {
    const auto o = st.matrices.of(r);
    return o < 0 ? nullptr : &st.operands[static_cast<std::size_t>(o)];
}

bool reads_operand(const step& st, std::size_t o) {
    const auto& w = st.matrices;
    if (w.task == matrix_task::none) return o > 0 || st.op != assignment::assign;
    const auto is = [&](matrix_role r) { return w.of(r) == static_cast<std::int32_t>(o); };
    return is(matrix_role::matrix) || is(matrix_role::given) ||
           (is(matrix_role::vector) && w.task == matrix_task::substitute);
}

bool writes_operand(const step& st, std::size_t o) {
    const auto& w = st.matrices;
    if (w.task == matrix_task::none) return o == 0;
    const auto is = [&](matrix_role r) { return w.of(r) == static_cast<std::int32_t>(o); };
    const bool factors = w.task == matrix_task::factor;
    return is(matrix_role::info) || is(matrix_role::solution) || is(matrix_role::log_abs) || is(matrix_role::sign) ||
           (factors && (is(matrix_role::vector) || (is(matrix_role::matrix) && w.keeps_factors)));
}

} // namespace ricci::lowering
