// matrix_methods: the numbers of lowering::matrix_method and lowering::matrix_role.
#pragma once

enum : int { cholesky_method, lu_method, lu_unpivoted_method, qr_method, triangular_method, apply_q_method,
             apply_qh_method, form_q_method };
enum : int { matrix_role, vector_role, info_role, given_role, solution_role, log_abs_role, sign_role, role_count };
