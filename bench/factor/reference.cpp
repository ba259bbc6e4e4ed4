// reference: LAPACK's test ratios (TESTING/LIN: xPOT01, xGET01, xQRT01, xGET02, xGET03, xQRT17, xQRT14), by plain
// loops in long double.
#include "bench/factor/reference.hpp"

#include "bench/factor/reference_matrix.hpp"

#include <ricci/lowering/error.hpp>

#include <limits>

namespace ricci::bench::factor {

namespace {

using lowering::scalar_type;

constexpr double most_multiplications = 4e7; ///< of one check: well below half a second
constexpr std::int64_t most_matrices = 8, fewest_matrices = 2;

/// What an array holds of one matrix: the first rows of columns that are so long.
struct part {
    std::int64_t rows = 0, columns = 0, length = 0, matrix = 0;
};

template <class T, class S>
T widened(const S& s) {
    if constexpr (std::is_arithmetic_v<S> || !std::is_same_v<T, long double>)
        return T(s);
    else
        return T(s.real()); // of a complex array no real matrix is ever read
}

template <class T, class S>
matrix<T> read_as(const void* place, device where, const part& of) {
    std::vector<S> host(static_cast<std::size_t>(of.length * of.columns));
    runtime::copy(cpu(), host.data(), where, static_cast<const S*>(place) + of.matrix * of.length * of.columns,
                  host.size() * sizeof(S));
    matrix<T> to(of.rows, of.columns);
    for (std::int64_t j = 0; j < to.columns(); ++j)
        for (std::int64_t i = 0; i < to.rows(); ++i)
            to(i, j) = widened<T>(host[static_cast<std::size_t>(i + j * of.length)]);
    return to;
}

template <class T>
matrix<T> read(scalar_type type, const void* place, device where, const part& of) {
    switch (type) {
    case scalar_type::f32:
        return read_as<T, float>(place, where, of);
    case scalar_type::f64:
        return read_as<T, double>(place, where, of);
    case scalar_type::c64:
        return read_as<T, std::complex<float>>(place, where, of);
    case scalar_type::c128:
        return read_as<T, std::complex<double>>(place, where, of);
    default:
        return read_as<T, std::int32_t>(place, where, of);
    }
}

/// Infinite for NaN, which no comparison finds.
double quotient(long double residual, long double scale) {
    if (residual == 0) return 0;
    const auto ratio = static_cast<double>(residual / scale);
    return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

/// One matrix of the batch and what came of it.
template <class T>
class judge {
  public:
    judge(const problem& p, const operand_addresses& set, const answer& given, std::int64_t e, device where)
        : p_(p), set_(set), answer_(given), e_(e), where_(where), a_(get(p.type, at_original, p.m, p.n, p.m)) {}

    double ratio() const {
        switch (p_.what) {
        case routine::cholesky:
            return cholesky();
        case routine::lu:
            return lu();
        case routine::qr:
            return qr();
        case routine::inverse:
            return inverse();
        case routine::solve_positive:
        case routine::cholesky_solve:
            return solution(hermitian(a_));
        case routine::triangular_solve:
            return solution(lower_of(a_, false));
        default:
            return p_.m == p_.n ? solution(a_) : p_.m > p_.n ? least_squares() : shortest();
        }
    }

  private:
    matrix<T> get(scalar_type type, operand_number which, std::int64_t rows, std::int64_t columns,
                  std::int64_t length) const {
        return read<T>(type, set_[which], where_, {rows, columns, length, e_});
    }
    matrix<T> factors() const { return get(p_.type, at_A, p_.m, p_.n, p_.m); }
    matrix<T> found() const {
        return get(p_.type, answer_.solutions, p_.n, p_.columns(), answer_.length > 0 ? answer_.length : p_.n);
    }
    matrix<T> sides() const { return get(p_.type, at_given, p_.m, p_.sides, p_.longest()); }
    long double roundoff() const { return lowering::real_of(p_.type) == scalar_type::f64 ? 0x1p-53L : 0x1p-24L; }
    double scaled(long double residual, std::int64_t size, long double norm) const {
        return quotient(residual, static_cast<long double>(size) * norm * roundoff());
    }

    double cholesky() const {
        const matrix<T> a = hermitian(a_), l = lower_of(factors(), false);
        return scaled(norm_of(l * adjoint(l) - a), p_.n, norm_of(a));
    }

    double lu() const {
        const matrix<T> f = factors(), pivots = get(scalar_type::i32, at_vector, p_.least(), 1, p_.least());
        matrix<T> exchanged = a_;
        for (std::int64_t k = 0; k < p_.least(); ++k) {
            const std::int64_t row = static_cast<std::int64_t>(std::real(pivots(k, 0))) - answer_.first_pivot;
            if (row < k || row >= p_.m) return std::numeric_limits<double>::infinity();
            for (std::int64_t j = 0; j < p_.n; ++j) std::swap(exchanged(k, j), exchanged(row, j));
        }
        return scaled(norm_of(lower_of(f, true) * upper_of(f) - exchanged), p_.n, norm_of(a_));
    }

    double qr() const {
        const matrix<T> f = factors(), q = q_of(f, get(p_.type, at_vector, p_.least(), 1, p_.least()));
        const long double skew = norm_of(identity<T>(p_.least()) - adjoint(q) * q);
        return std::max(scaled(norm_of(a_ - q * upper_of(f)), p_.m, norm_of(a_)), scaled(skew, p_.m, 1));
    }

    double inverse() const {
        const matrix<T> x = found();
        return scaled(norm_of(identity<T>(p_.n) - a_ * x), p_.n, norm_of(a_) * norm_of(x));
    }

    /// Of each right-hand side by itself.
    double solution(const matrix<T>& a, std::int64_t size = 1) const {
        const matrix<T> x = found(), residual = sides() - a * x;
        double worst = 0;
        for (std::int64_t j = 0; j < p_.sides; ++j)
            worst = std::max(worst, scaled(norm_of_column(residual, j), size, norm_of(a) * norm_of_column(x, j)));
        return worst;
    }

    /// The residual is orthogonal to what A can reach.
    double least_squares() const {
        const matrix<T> b = sides();
        return scaled(norm_of(adjoint(a_) * (b - a_ * found())), std::max(p_.m, p_.sides), norm_of(a_) * norm_of(b));
    }

    /// Of all solutions of a wide system the shortest is wanted, which lies in the space of the rows.
    double shortest() const {
        const matrix<T> x = found();
        return std::max(solution(a_, p_.n), scaled(norm_of(beyond_rows(a_, x)), p_.n, norm_of(x)));
    }

    const problem& p_;
    const operand_addresses& set_;
    const answer& answer_;
    std::int64_t e_;
    device where_;
    matrix<T> a_;
};

/// Of the check of one matrix.
double multiplications(const problem& p) {
    const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), r = static_cast<double>(p.columns());
    const auto k = static_cast<double>(p.least());
    const double real = p.what == routine::qr      ? k * (m * n + 3 * m * k) // Q, and Q^H Q
                        : factors_in_place(p.what) ? k * m * n
                        : p.m < p.n                ? n * m * (2 * m + 3 * r)
                                                   : 2 * m * n * r;
    return (lowering::is_complex(p.type) ? 4 : 1) * real;
}

} // namespace

std::vector<std::int64_t> checked_matrices(const problem& p) {
    const auto affordable = static_cast<std::int64_t>(std::min(most_multiplications / multiplications(p), 1e6));
    const std::int64_t count = std::min(p.batch, std::clamp(affordable, fewest_matrices, most_matrices));
    std::vector<std::int64_t> all;
    for (std::int64_t c = 0; c < count; ++c)
        all.push_back(c == 0 ? 0 : c + 1 == count ? p.batch - 1 : c + (p.batch - count) * c / count);
    return all;
}

findings check(const problem& p, const operand_addresses& set, const answer& given, device where) {
    findings found;
    for (const std::int64_t e : checked_matrices(p)) {
        const double ratio = lowering::is_complex(p.type)
                                 ? judge<std::complex<long double>>(p, set, given, e, where).ratio()
                                 : judge<long double>(p, set, given, e, where).ratio();
        ++found.looked_at;
        found.worst = std::max(found.worst, ratio);
        if (ratio < largest_ratio) continue;
        if (found.wrong++ == 0) found.first = e;
    }
    return found;
}

} // namespace ricci::bench::factor
