// problem: the operands of factorizations and solves, and LAPACK Working Note 41's counts.
#include "bench/factor/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ricci::bench::factor {

namespace {

using lowering::scalar_type;

struct operations_of_one {
    double multiplications = 0, additions = 0;
};

operations_of_one operator+(const operations_of_one& a, const operations_of_one& b) {
    return {a.multiplications + b.multiplications, a.additions + b.additions};
}

// S. Blackford, J. Dongarra: Installation guide for LAPACK (LAWN 41), appendix C.

operations_of_one count_cholesky(double n) { return {n * n * n / 6 + n * n / 2 + n / 3, n * n * n / 6 - n / 6}; }

/// The same formula for tall and for wide matrices.
operations_of_one count_lu(double m, double n) {
    const double k = std::min(m, n), l = std::max(m, n), cubic = k * k * l / 2 - k * k * k / 6;
    return {cubic - k * k / 2 + k * l / 2 + 2 * k / 3, cubic - k * l / 2 + k / 6};
}

operations_of_one count_qr(double m, double n) {
    if (m >= n)
        return {m * n * n - n * n * n / 3 + m * n + n * n / 2 + 23 * n / 6,
                m * n * n - n * n * n / 3 + n * n / 2 + 5 * n / 6};
    return {n * m * m - m * m * m / 3 + 2 * m * n - m * m / 2 + 23 * m / 6,
            n * m * m - m * m * m / 3 + m * n - m * m / 2 + 5 * m / 6};
}

/// xGETRI, behind xGETRF.
operations_of_one count_getri(double n) {
    const double cubic = 2 * n * n * n / 3 + 5 * n / 6;
    return {cubic + n * n / 2, cubic - 3 * n * n / 2};
}

/// xTRTRS; a unit triangle is not divided by.
operations_of_one count_triangular(double n, double r, bool unit = false) {
    return {r * n * (unit ? n - 1 : n + 1) / 2, r * n * (n - 1) / 2};
}

/// xORMQR from the left, with as many reflectors as the matrix has columns, or rows.
operations_of_one count_apply(double m, double k, double r) {
    return {2 * r * m * k - r * k * k + 2 * r * k, 2 * r * m * k - r * k * k + r * k};
}

operations_of_one count(const problem& p) {
    const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), r = static_cast<double>(p.sides);
    const auto k = static_cast<double>(p.least()), l = static_cast<double>(p.longest());
    const auto by_lu = [&] { return count_triangular(n, r, true) + count_triangular(n, r); };
    const auto by_cholesky = [&] { return count_triangular(n, r) + count_triangular(n, r); };
    const auto by_qr = [&] { return count_apply(l, k, r) + count_triangular(k, r); };
    switch (p.what) {
    case routine::cholesky:
        return count_cholesky(n);
    case routine::lu:
        return count_lu(m, n);
    case routine::qr:
        return count_qr(m, n);
    case routine::solve:
        return count_lu(n, n) + by_lu();
    case routine::solve_positive:
        return count_cholesky(n) + by_cholesky();
    case routine::least_squares: // of wide matrices an LQ, which costs as much as the QR of the transpose
        return count_qr(l, k) + by_qr();
    case routine::inverse:
        return count_lu(n, n) + count_getri(n);
    case routine::triangular_solve:
        return count_triangular(n, r);
    case routine::cholesky_solve:
        return by_cholesky();
    case routine::lu_solve:
        return by_lu();
    default:
        return by_qr();
    }
}

double bytes_with(const problem& p, double matrix_elements) {
    const std::int64_t read = p.what == routine::inverse ? 0 : p.m * p.sides, written = p.n * p.columns();
    const double moved =
        factors_in_place(p.what) ? 2 * matrix_elements : matrix_elements + static_cast<double>(read + written);
    return moved * static_cast<double>(p.batch * lowering::size_of(p.type));
}

} // namespace

double problem::flops() const {
    const auto [multiplications, additions] = count(*this);
    const bool complex = lowering::is_complex(type);
    return static_cast<double>(batch) * (complex ? 6 * multiplications + 2 * additions : multiplications + additions);
}

double problem::bytes() const { return bytes_with(*this, static_cast<double>(m * n)); }

double problem::element_bytes() const {
    return facts_of(what).triangle ? bytes_with(*this, static_cast<double>(n * (n + 1)) / 2) : bytes();
}

text_program notation_of(const problem& p) {
    text_program out;
    const routine_facts& facts = facts_of(p.what);
    const scalar_type vector_type = facts.vector == vector_kind::pivots ? scalar_type::i32 : p.type;
    out.operands = {dense("original", p.type, {p.m, p.n, p.batch}), dense("A", p.type, {p.m, p.n, p.batch}),
                    dense("v", vector_type, {p.least(), p.batch}), dense("info", scalar_type::i32, {p.batch})};
    if (!factors_in_place(p.what)) out.operands.push_back(dense("X", p.type, {p.n, p.columns(), p.batch}));
    if (facts.has_sides) {
        // LAPACK takes right-hand sides and gives solutions in one array, which has to hold either.
        text_operand longest = dense("work", p.type, {p.longest(), p.sides, p.batch}), given = longest;
        given.name = "given", given.extents[0] = p.m;
        out.operands.push_back(given);
        if (facts.result == outcome::apart) out.operands.push_back(longest);
    }
    out.statements = parse_text(std::string(facts.text));
    return out;
}

std::string text_of_adjustment(const problem& p) {
    // Elements are below 1, of complex matrices below the root of 2: this is more than a row's others together. Of
    // what Cholesky gets, the upper triangle, which is not read, is not the lower one's conjugate; a random triangle
    // without such a diagonal has an inverse that grows like 2^n.
    return facts_of(p.what).triangle ? fmt::format("original(i,i,e) = {}", 2 * p.n) : "";
}

std::string text_of_factorization(const problem& p) {
    const routine_facts& facts = facts_of(p.what);
    return facts.takes_factors ? std::string(facts_of(facts.factorization).text) : "";
}

work memory_of(const problem& p) {
    work w;
    for (const text_operand& o : notation_of(p).operands)
        w.operands.push_back({o.type, o.strides.back() * o.extents.back(), 1, false, {}});
    return w;
}

} // namespace ricci::bench::factor
