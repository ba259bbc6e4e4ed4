// problem: the statements of factorizations and solves, and LAPACK Working Note 41's counts.
#include "bench/factor/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ricci::bench::factor {

namespace {

using lowering::scalar_type;

struct operations_of_one {
    double multiplications = 0, additions = 0;
};

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

operations_of_one count_substitutions(const problem& p) {
    const auto n = static_cast<double>(p.n), r = static_cast<double>(p.sides);
    const bool divides_twice = p.what == routine::cholesky_solve; // a unit triangle is not divided by
    return {r * n * (divides_twice ? n + 1 : n), r * n * (n - 1)};
}

operations_of_one operator+(const operations_of_one& a, const operations_of_one& b) {
    return {a.multiplications + b.multiplications, a.additions + b.additions};
}

operations_of_one count(const problem& p) {
    const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
    switch (p.what) {
    case routine::cholesky:
        return count_cholesky(n);
    case routine::lu:
        return count_lu(m, n);
    case routine::qr:
        return count_qr(m, n);
    case routine::solve:
        return count_lu(n, n) + count_substitutions(p);
    default:
        return count_substitutions(p);
    }
}

double bytes_with(const problem& p, double matrix_elements) {
    const double moved =
        solves(p.what) ? matrix_elements + 2 * static_cast<double>(p.n * p.sides) : 2 * matrix_elements;
    return moved * static_cast<double>(p.batch * lowering::size_of(p.type));
}

} // namespace

double problem::flops() const {
    const auto [multiplications, additions] = count(*this);
    const bool complex = lowering::is_complex(type);
    return static_cast<double>(batch) *
           (complex ? 6 * multiplications + 2 * additions : multiplications + additions);
}

double problem::bytes() const { return bytes_with(*this, static_cast<double>(m * n)); }

double problem::element_bytes() const {
    return is_definite(what) ? bytes_with(*this, static_cast<double>(n * (n + 1)) / 2) : bytes();
}

const std::vector<std::string>& routine_names() {
    static const std::vector<std::string> names{"cholesky", "lu", "qr", "solve", "cholesky_solve", "lu_solve"};
    return names;
}

routine routine_of(const std::string& name) {
    constexpr routine all[] = {routine::cholesky,       routine::lu,      routine::qr, routine::solve,
                               routine::cholesky_solve, routine::lu_solve};
    return *std::find_if(std::begin(all), std::end(all), [&](routine r) { return lowering::name_of(r) == name; });
}

text_program notation_of(const problem& p) {
    text_program out;
    const scalar_type vector_type = has_pivots(p.what) ? scalar_type::i32 : p.type;
    out.operands = {dense("original", p.type, {p.m, p.n, p.batch}), dense("A", p.type, {p.m, p.n, p.batch}),
                    dense("v", vector_type, {p.least(), p.batch}), dense("info", scalar_type::i32, {p.batch})};
    if (solves(p.what))
        for (const char* name : {"X", "given"}) out.operands.push_back(dense(name, p.type, {p.n, p.sides, p.batch}));
    const auto text = [&] {
        switch (p.what) {
        case routine::solve:
            return "info(e) = solve(original(i,j,e), i, j, X(j,r,e))";
        case routine::cholesky_solve:
            return "info(e) = cholesky_solve(A(i,j,e), i, j, X(j,r,e))";
        case routine::lu_solve:
            return "info(e) = lu_solve(A(i,j,e), i, j, v(k,e), X(j,r,e))";
        case routine::cholesky:
            return "info(e) = cholesky(A(i,j,e), i, j)";
        case routine::lu:
            return "v(k,e), info(e) = lu(A(i,j,e), i, j)";
        default:
            return "v(k,e), info(e) = qr(A(i,j,e), i, j)";
        }
    };
    out.statements = parse_text(text());
    return out;
}

std::string text_of_adjustment(const problem& p) {
    // Elements are below 1, of complex matrices below the root of 2: this is more than a row's others together. The
    // upper triangle, which is not read, is not the lower one's conjugate.
    return is_definite(p.what) ? fmt::format("original(i,i,e) = {}", 2 * p.n) : "";
}

std::string text_of_factorization(const problem& p) {
    switch (p.what) {
    case routine::cholesky_solve:
        return "info(e) = cholesky(A(i,j,e), i, j)";
    case routine::lu_solve:
        return "v(k,e), info(e) = lu(A(i,j,e), i, j)";
    default:
        return "";
    }
}

work memory_of(const problem& p) {
    work w;
    for (const text_operand& o : notation_of(p).operands)
        w.operands.push_back({o.type, elements_of(o), 1, false, {}});
    return w;
}

} // namespace ricci::bench::factor
