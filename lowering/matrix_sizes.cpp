// matrix_sizes: sizes, batch and operands of steps that work on matrices.
#include "lowering/matrix_sizes.hpp"

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
