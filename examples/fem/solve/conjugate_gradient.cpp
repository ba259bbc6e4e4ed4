// conjugate_gradient: dot products and updates are statements; step lengths stay on the device too.
#include "examples/fem/solve/conjugate_gradient.hpp"

#include <cmath>
#include <memory>

namespace fem {

using namespace ricci::indices;

solver_result conjugate_gradient(const linear_map& A, const linear_map& preconditioner, const vector& b, vector& x,
                                 const solver_options& options) {
    const auto& device = b.device();
    vector r(b.size(), device), z(b.size(), device), p(b.size(), device), Ap(b.size(), device);
    ricci::tensor<double> rz(device), old_rz(device), pAp(device);

    A(x, Ap);
    r(i) = b(i) - Ap(i);
    preconditioner(r, z);
    p(i) = z(i);
    rz() = r(i) * z(i);
    const double start = rz();
    if (!std::isfinite(start)) return {0, start, false};
    solver_result result{0, start > 0 ? 1.0 : 0.0, start == 0};
    while (!result.converged && result.iterations < options.most_iterations) {
        A(p, Ap);
        pAp() = p(i) * Ap(i);
        x(i) += rz() * p(i) / pAp();
        r(i) -= rz() * Ap(i) / pAp();
        preconditioner(r, z);
        old_rz() = rz();
        rz() = r(i) * z(i);
        p(i) = z(i) + rz() * p(i) / old_rz();
        result.relative_residual = std::sqrt(static_cast<double>(rz()) / start);
        ++result.iterations;
        if (options.progress) options.progress(result.iterations, result.relative_residual);
        if (!std::isfinite(result.relative_residual)) break;
        result.converged = result.relative_residual <= options.tolerance;
    }
    return result;
}

linear_map identity() {
    return [](const vector& r, vector& z) { z(i) = r(i); };
}

linear_map jacobi(const vector& diagonal) {
    std::vector<double> inverse = diagonal.download();
    for (double& value : inverse) value = value == 0 ? 0 : 1 / value;
    auto kept = std::make_shared<const vector>(to_device(inverse, diagonal.device()));
    return [kept](const vector& r, vector& z) { z(i) = (*kept)(i)*r(i); };
}

} // namespace fem
