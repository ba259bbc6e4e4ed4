// conjugate_gradient: solves A x = b for symmetric positive definite A, all vectors on the device.
#pragma once

#include "examples/fem/space/tables.hpp"

#include <functional>

namespace fem {

/// y = F x for vectors on the device. A, and the preconditioner, which is anything close to A's inverse: those below,
/// and that of schwarz.hpp.
using linear_map = std::function<void(const vector& x, vector& y)>;

struct solver_options {
    /// Of the residual r, relative to that at the start, in the preconditioner's norm: the root of r'z, z = F r.
    double tolerance = 1e-12;
    int most_iterations = 10000;
    std::function<void(int iteration, double relative_residual)> progress; ///< after each iteration, may be empty
};

struct solver_result {
    int iterations = 0;
    double relative_residual = 0; ///< not finite where the iteration broke down
    bool converged = false;
};

/// x holds the start on entry. Per iteration one number goes to the host, r'z.
solver_result conjugate_gradient(const linear_map& A, const linear_map& preconditioner, const vector& b, vector& x,
                                 const solver_options& options);

/// No preconditioner: the result is what it is given.
linear_map identity();
/// Divides by the diagonal; where that is 0, the result is 0.
linear_map jacobi(const vector& diagonal);

} // namespace fem
