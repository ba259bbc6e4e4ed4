// factor_layout: which kernel's layout answers.
#include "lowering/factor_layout.hpp"

#include "lowering/factor_block.hpp"
#include "lowering/factor_cpu.hpp"
#include "lowering/factor_lanes.hpp"
#include "lowering/factor_lanes_qr.hpp"
#include "lowering/factor_stream.hpp"
#include "lowering/factor_warp.hpp"
#include "lowering/matrix_sizes.hpp"
#include "lowering/sm_limits.hpp"
#include "lowering/substitute_layout.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

bool is_substitution(const step& st) { return st.kernel == family::substitute; }
bool is_on_cpu(const machine& chip) { return chip.kind == target::cpu; }
bool is_lanes(const step& st) { return st.kernel == family::factor_lanes; }
bool is_qr(const step& st) { return st.matrices.method == matrix_method::qr; }

/// Cholesky's and LU's.
std::vector<batched_tile> lanes_candidates(const step& st, const machine& chip) {
    auto first = factor_warp_candidates(st, chip), rest = factor_lanes_candidates(st, chip);
    if (!warps_are_faster(st)) std::swap(first, rest);
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
}

} // namespace

std::vector<batched_tile> factor_candidates(const step& st, const machine& chip) {
    if (is_substitution(st)) return substitute_candidates(st, chip);
    if (is_on_cpu(chip)) return factor_cpu_candidates(st, chip);
    if (is_lanes(st)) return is_qr(st) ? qr_lanes_candidates(st, chip) : lanes_candidates(st, chip);
    auto out = st.kernel == family::factor_block ? factor_stream_candidates(st, chip) : std::vector<batched_tile>{};
    const auto rest = factor_block_candidates(st, chip);
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
}

std::int64_t factor_shared_bytes(const step& st, const batched_tile& tile, const machine& chip) {
    if (is_on_cpu(chip)) return 0;
    if (is_substitution(st)) return substitute_shared_bytes(st, tile, chip);
    if (is_lanes(st) && is_by_warps(tile)) return factor_warp_shared_bytes(st, tile);
    if (is_lanes(st))
        return is_qr(st) ? qr_lanes_shared_bytes(st, tile, chip) : factor_lanes_shared_bytes(st, tile, chip);
    if (tile.streamed) return factor_stream_shared_bytes(st);
    return factor_block_shared_bytes(st, tile, chip);
}

std::int64_t factor_workspace_bytes(const step& st, const batched_tile& tile, const machine& chip) {
    if (is_on_cpu(chip)) return 0;
    if (is_substitution(st)) return substitute_workspace_bytes(st, tile, chip);
    return is_lanes(st) ? 0 : factor_block_workspace_bytes(st, tile, chip);
}

std::int64_t factor_blocks(const step& st, const batched_tile& tile, const machine& chip) {
    return tile.streamed ? factor_stream_blocks(st, tile, chip) : up(matrix_sizes_of(st).matrices, tile.products);
}

double factor_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    if (is_substitution(st)) return substitute_seconds(st, tile, chip);
    if (is_on_cpu(chip)) return factor_cpu_seconds(st, tile, chip);
    if (is_lanes(st) && is_by_warps(tile)) return factor_warp_seconds(st, tile, chip);
    if (is_lanes(st)) return is_qr(st) ? qr_lanes_seconds(st, tile, chip) : factor_lanes_seconds(st, tile, chip);
    if (tile.streamed) return factor_stream_seconds(st, tile, chip);
    return factor_block_seconds(st, tile, chip);
}

double factor_flops(const step& st) {
    const auto sizes = matrix_sizes_of(st);
    const double of_one = factor_flops(st.matrices.task, st.matrices.method, static_cast<double>(sizes.m),
                                       static_cast<double>(sizes.n), static_cast<double>(sizes.r));
    return of_one * static_cast<double>(sizes.matrices) * (is_complex(st.compute) ? 4 : 1);
}

/// LAPACK Working Note 41, appendix C, the leading terms.
double factor_flops(matrix_task task, matrix_method method, double m, double n, double r) {
    const double k = std::min(m, n), both = std::max(m, n);
    if (task == matrix_task::factor) {
        switch (method) {
        case matrix_method::cholesky:
            return n * n * n / 3 + 2 * n * n * r;
        case matrix_method::qr:
            return 2 * k * k * (both - k / 3) + (r > 0 ? 4 * m * n - n * n : 0) * r;
        default:
            return k * k * (both - k / 3) + 2 * n * n * r;
        }
    }
    switch (method) {
    case matrix_method::triangular:
        return n * n * r;
    case matrix_method::qr:
        return (4 * m * k - n * n) * r;
    case matrix_method::apply_q:
    case matrix_method::apply_qh:
    case matrix_method::form_q:
        return (4 * m - 2 * k) * k * r;
    default:
        return 2 * n * n * r;
    }
}

} // namespace ricci::lowering
