// gemm_call: a product as a BLAS takes it.
#include "bench/peers/gemm_call.hpp"

#include <algorithm>
#include <utility>

namespace ricci::bench {

namespace {

/// The matrix of `rows` x `columns` that `x` is, read as it stands or transposed.
std::optional<gemm_matrix> read_as(const matrix& x, std::int64_t rows, std::int64_t columns, bool conjugated) {
    const auto leading = [](std::int64_t length, std::int64_t count,
                            std::int64_t stride) -> std::optional<std::int64_t> {
        if (count == 1) return std::max<std::int64_t>(1, length); // there is no second one to be far away
        return stride >= length ? std::optional(stride) : std::nullopt;
    };
    if ((x.row_stride == 1 || rows == 1) && !conjugated)
        if (const auto distance = leading(rows, columns, x.column_stride))
            return gemm_matrix{'N', *distance, x.batch_stride};
    if (x.column_stride == 1 || columns == 1)
        if (const auto distance = leading(columns, rows, x.row_stride))
            return gemm_matrix{conjugated ? 'C' : 'T', *distance, x.batch_stride};
    return std::nullopt;
}

matrix transposed(matrix x) {
    std::swap(x.row_stride, x.column_stride);
    return x;
}

std::optional<gemm_call> upright(const product& p) {
    const auto a = read_as(p.a, p.m, p.k, p.a_conjugated), b = read_as(p.b, p.k, p.n, p.b_conjugated),
               c = read_as(p.c, p.m, p.n, false);
    if (!a || !b || !c || c->operation != 'N') return std::nullopt;
    return gemm_call{false, p.m, p.n, p.k, p.batch, *a, *b, *c, p.places};
}

} // namespace

std::optional<gemm_call> gemm_call_of(const product& p) {
    if (const auto call = upright(p)) return call;
    product other = p;
    std::swap(other.m, other.n);
    other.a = transposed(p.b), other.b = transposed(p.a), other.c = transposed(p.c);
    std::swap(other.a_conjugated, other.b_conjugated);
    auto call = upright(other);
    if (call) call->swapped = true;
    return call;
}

std::optional<gemm_call> as_one_gemm(const gemm_call& call) {
    const bool one = call.count > 1 && call.a.batch_stride == 0 && call.b.operation == 'N' &&
                     call.b.batch_stride == call.n * call.b.leading && call.c.batch_stride == call.n * call.c.leading;
    if (!one || call.places) return std::nullopt;
    gemm_call all = call;
    all.n *= call.count;
    all.count = 1;
    return all;
}

} // namespace ricci::bench
