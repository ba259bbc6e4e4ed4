// factor_layout: which kernel's layout answers.
#include "lowering/factor_layout.hpp"

#include "lowering/factor_block.hpp"
#include "lowering/factor_cpu.hpp"
#include "lowering/factor_lanes.hpp"
#include "lowering/factor_lanes_qr.hpp"
#include "lowering/matrix_sizes.hpp"
#include "lowering/substitute_layout.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

bool is_substitution(const step& st) { return st.kernel == family::substitute; }
bool is_on_cpu(const machine& chip) { return chip.kind == target::cpu; }
bool is_lanes(const step& st) { return st.kernel == family::factor_lanes; }
bool is_qr(const step& st) { return st.matrices.method == matrix_method::qr; }

} // namespace

std::vector<batched_tile> factor_candidates(const step& st, const machine& chip) {
    if (is_substitution(st)) return substitute_candidates(st, chip);
    if (is_on_cpu(chip)) return factor_cpu_candidates(st, chip);
    if (is_lanes(st)) return is_qr(st) ? qr_lanes_candidates(st, chip) : factor_lanes_candidates(st, chip);
    return factor_block_candidates(st, chip);
}

std::int64_t factor_shared_bytes(const step& st, const batched_tile& tile, const machine& chip) {
    if (is_on_cpu(chip)) return 0;
    if (is_substitution(st)) return substitute_shared_bytes(st, tile, chip);
    if (is_lanes(st))
        return is_qr(st) ? qr_lanes_shared_bytes(st, tile, chip) : factor_lanes_shared_bytes(st, tile, chip);
    return factor_block_shared_bytes(st, tile, chip);
}

std::int64_t factor_workspace_bytes(const step& st, const batched_tile& tile, const machine& chip) {
    if (is_on_cpu(chip)) return 0;
    if (is_substitution(st)) return substitute_workspace_bytes(st, tile, chip);
    return is_lanes(st) ? 0 : factor_block_workspace_bytes(st, tile, chip);
}

double factor_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    if (is_substitution(st)) return substitute_seconds(st, tile, chip);
    if (is_on_cpu(chip)) return factor_cpu_seconds(st, tile, chip);
    if (is_lanes(st)) return is_qr(st) ? qr_lanes_seconds(st, tile, chip) : factor_lanes_seconds(st, tile, chip);
    return factor_block_seconds(st, tile, chip);
}

/// LAPACK Working Note 41, appendix C, the leading terms.
double factor_flops(const step& st) {
    const auto sizes = matrix_sizes_of(st);
    const auto m = static_cast<double>(sizes.m), n = static_cast<double>(sizes.n), r = static_cast<double>(sizes.r);
    const double k = std::min(m, n), both = std::max(m, n);
    double flops = 0;
    if (st.matrices.task == matrix_task::factor) {
        switch (st.matrices.method) {
        case matrix_method::cholesky:
            flops = n * n * n / 3;
            break;
        case matrix_method::qr:
            flops = 2 * k * k * (both - k / 3);
            break;
        default:
            flops = k * k * (both - k / 3);
        }
        if (sizes.r > 0) flops += st.matrices.method == matrix_method::qr ? (4 * m * n - n * n) * r : 2 * n * n * r;
    } else {
        switch (st.matrices.method) {
        case matrix_method::triangular:
            flops = n * n * r;
            break;
        case matrix_method::qr:
            flops = (4 * m * k - n * n) * r;
            break;
        case matrix_method::apply_q:
        case matrix_method::apply_qh:
        case matrix_method::form_q:
            flops = (4 * m - 2 * k) * k * r;
            break;
        default:
            flops = 2 * n * n * r;
        }
    }
    return flops * static_cast<double>(sizes.matrices) * (is_complex(st.compute) ? 4 : 1);
}

} // namespace ricci::lowering
