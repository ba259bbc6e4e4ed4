// factor_problems: what tests of factorizations on each device share: types, layouts and kinds of matrices, and the
// running of many problems at once.
#pragma once

#include "lowering/statement.hpp"
#include "tests/kernels/matrix_problem.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace ricci::tests {

inline constexpr lowering::scalar_type matrix_types[] = {lowering::scalar_type::f64, lowering::scalar_type::f32,
                                                         lowering::scalar_type::c128, lowering::scalar_type::c64};
inline constexpr matrix_layout matrix_layouts[] = {matrix_layout::dense, matrix_layout::interleaved,
                                                   matrix_layout::row_major, matrix_layout::padded,
                                                   matrix_layout::reversed};
inline constexpr matrix_kind matrix_kinds[] = {
    matrix_kind::random,   matrix_kind::graded,    matrix_kind::large,           matrix_kind::small,
    matrix_kind::singular, matrix_kind::dependent, matrix_kind::nearly_singular, matrix_kind::indefinite,
    matrix_kind::zero,     matrix_kind::with_nan};

/// Of a test case: each problem's outcome is right. On a GPU by several threads: it is their kernels' compilation
/// that takes the time; so those of one kernel stand apart.
void check_problems(std::vector<matrix_problem> problems, std::int32_t device,
                    const std::function<void(const lowering::statement&)>& how = {});

/// Whether the next kernel is not of this run's part: most of a run's time is theirs to compile.
bool is_left_out();

/// One kernel, all kinds of matrices; of large ones, which take a second each to be judged, some.
void add_kinds(std::vector<matrix_problem>& problems, matrix_problem p);

} // namespace ricci::tests
