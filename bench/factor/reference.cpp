// reference: LAPACK's test ratios (TESTING/LIN: xPOT01, xGET01, xQRT01, xGET02), by plain loops in long double.
#include "bench/factor/reference.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

namespace ricci::bench::factor {

namespace {

using lowering::scalar_type;
using number = std::complex<long double>;

constexpr double most_multiplications = 4e7; ///< of one check: about half a second
constexpr std::int64_t most_matrices = 8, fewest_matrices = 2;

class matrix {
  public:
    matrix(std::int64_t rows, std::int64_t columns)
        : rows_(rows), columns_(columns), numbers_(static_cast<std::size_t>(rows * columns)) {}

    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return columns_; }
    number& operator()(std::int64_t i, std::int64_t j) { return numbers_[static_cast<std::size_t>(i + j * rows_)]; }
    const number& operator()(std::int64_t i, std::int64_t j) const {
        return numbers_[static_cast<std::size_t>(i + j * rows_)];
    }

  private:
    std::int64_t rows_, columns_;
    std::vector<number> numbers_;
};

/// std::complex's own product looks for infinities, which takes most of the time.
void add_product(number& sum, const number& x, const number& y) {
    sum = {sum.real() + (x.real() * y.real() - x.imag() * y.imag()),
           sum.imag() + (x.real() * y.imag() + x.imag() * y.real())};
}

matrix operator*(const matrix& a, const matrix& b) {
    matrix out(a.rows(), b.columns());
    for (std::int64_t j = 0; j < b.columns(); ++j)
        for (std::int64_t k = 0; k < a.columns(); ++k) {
            const number x = b(k, j);
            if (x == number(0)) continue; // half of a triangle
            for (std::int64_t i = 0; i < a.rows(); ++i) add_product(out(i, j), a(i, k), x);
        }
    return out;
}

matrix operator-(matrix a, const matrix& b) {
    for (std::int64_t j = 0; j < a.columns(); ++j)
        for (std::int64_t i = 0; i < a.rows(); ++i) a(i, j) -= b(i, j);
    return a;
}

matrix adjoint(const matrix& a) {
    matrix out(a.columns(), a.rows());
    for (std::int64_t j = 0; j < a.columns(); ++j)
        for (std::int64_t i = 0; i < a.rows(); ++i) out(j, i) = std::conj(a(i, j));
    return out;
}

long double norm_of_column(const matrix& a, std::int64_t j) {
    long double sum = 0;
    for (std::int64_t i = 0; i < a.rows(); ++i) sum += std::abs(a(i, j));
    return sum;
}

/// The 1-norm; NaN where an element is.
long double norm_of(const matrix& a) {
    long double largest = 0;
    for (std::int64_t j = 0; j < a.columns(); ++j) {
        const long double sum = norm_of_column(a, j);
        if (std::isnan(sum)) return sum;
        largest = std::max(largest, sum);
    }
    return largest;
}

matrix lower_of(const matrix& f, bool unit) {
    const std::int64_t k = std::min(f.rows(), f.columns());
    matrix out(f.rows(), k);
    for (std::int64_t j = 0; j < k; ++j)
        for (std::int64_t i = j; i < f.rows(); ++i) out(i, j) = i == j && unit ? number(1) : f(i, j);
    return out;
}

matrix upper_of(const matrix& f) {
    const std::int64_t k = std::min(f.rows(), f.columns());
    matrix out(k, f.columns());
    for (std::int64_t j = 0; j < f.columns(); ++j)
        for (std::int64_t i = 0; i < std::min(k, j + 1); ++i) out(i, j) = f(i, j);
    return out;
}

/// The lower triangle and its conjugate.
matrix hermitian(matrix a) {
    for (std::int64_t j = 0; j < a.columns(); ++j) {
        a(j, j) = a(j, j).real();
        for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::conj(a(j, i));
    }
    return a;
}

/// The first columns of Q, as many as there are reflectors I - tau v v^H; the last one is applied first.
matrix q_of(const matrix& f, const matrix& tau) {
    matrix q(f.rows(), tau.rows());
    for (std::int64_t j = 0; j < q.columns(); ++j) q(j, j) = 1;
    for (std::int64_t k = tau.rows() - 1; k >= 0; --k)
        for (std::int64_t j = k; j < q.columns(); ++j) { // those before are still zero there
            number sum = q(k, j);
            for (std::int64_t i = k + 1; i < f.rows(); ++i) add_product(sum, std::conj(f(i, k)), q(i, j));
            sum *= tau(k, 0);
            q(k, j) -= sum;
            for (std::int64_t i = k + 1; i < f.rows(); ++i) add_product(q(i, j), -f(i, k), sum);
        }
    return q;
}

/// `count` elements at `place`, converted.
template <class T>
void read_as(const void* place, device where, std::int64_t first, matrix& to) {
    std::vector<T> host(static_cast<std::size_t>(to.rows() * to.columns()));
    runtime::copy(cpu(), host.data(), where, static_cast<const T*>(place) + first, host.size() * sizeof(T));
    for (std::int64_t j = 0; j < to.columns(); ++j)
        for (std::int64_t i = 0; i < to.rows(); ++i)
            to(i, j) = number(host[static_cast<std::size_t>(i + j * to.rows())]);
}

/// Matrix number e of a tensor of those.
matrix read(scalar_type type, const void* place, std::int64_t rows, std::int64_t columns, std::int64_t e,
            device where) {
    matrix out(rows, columns);
    const std::int64_t first = e * rows * columns;
    switch (type) {
    case scalar_type::f32:
        read_as<float>(place, where, first, out);
        break;
    case scalar_type::f64:
        read_as<double>(place, where, first, out);
        break;
    case scalar_type::c64:
        read_as<std::complex<float>>(place, where, first, out);
        break;
    case scalar_type::c128:
        read_as<std::complex<double>>(place, where, first, out);
        break;
    default:
        read_as<std::int32_t>(place, where, first, out);
    }
    return out;
}

/// Infinite for NaN, which no comparison finds.
double quotient(long double residual, long double scale) {
    if (residual == 0) return 0;
    const auto ratio = static_cast<double>(residual / scale);
    return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

/// One matrix of the batch and what came of it.
class judge {
  public:
    judge(const problem& p, const operand_addresses& set, std::int64_t first_pivot, std::int64_t e, device where)
        : p_(p), set_(set), first_pivot_(first_pivot), e_(e), where_(where), a_(get(p.type, at_original, p.m, p.n)) {
    }

    double ratio() const {
        switch (p_.what) {
        case routine::cholesky:
            return cholesky();
        case routine::lu:
            return lu();
        case routine::qr:
            return qr();
        default:
            return solution();
        }
    }

  private:
    matrix get(scalar_type type, operand_number which, std::int64_t rows, std::int64_t columns) const {
        return read(type, set_[which], rows, columns, e_, where_);
    }
    matrix factors() const { return get(p_.type, at_A, p_.m, p_.n); }
    long double roundoff() const { return lowering::real_of(p_.type) == scalar_type::f64 ? 0x1p-53L : 0x1p-24L; }
    double scaled(long double residual, std::int64_t size, long double norm) const {
        return quotient(residual, static_cast<long double>(size) * norm * roundoff());
    }

    double cholesky() const {
        const matrix a = hermitian(a_), l = lower_of(factors(), false);
        return scaled(norm_of(l * adjoint(l) - a), p_.n, norm_of(a));
    }

    double lu() const {
        const matrix f = factors(), pivots = get(scalar_type::i32, at_vector, p_.least(), 1);
        matrix exchanged = a_;
        for (std::int64_t k = 0; k < p_.least(); ++k) {
            const std::int64_t row = static_cast<std::int64_t>(pivots(k, 0).real()) - first_pivot_;
            if (row < k || row >= p_.m) return std::numeric_limits<double>::infinity();
            for (std::int64_t j = 0; j < p_.n; ++j) std::swap(exchanged(k, j), exchanged(row, j));
        }
        return scaled(norm_of(lower_of(f, true) * upper_of(f) - exchanged), p_.n, norm_of(a_));
    }

    double qr() const {
        const matrix f = factors(), q = q_of(f, get(p_.type, at_vector, p_.least(), 1));
        matrix product = adjoint(q) * q;
        for (std::int64_t k = 0; k < p_.least(); ++k) product(k, k) -= 1;
        return std::max(scaled(norm_of(a_ - q * upper_of(f)), p_.m, norm_of(a_)), scaled(norm_of(product), p_.m, 1));
    }

    double solution() const {
        const matrix a = is_definite(p_.what) ? hermitian(a_) : a_;
        const matrix x = get(p_.type, at_X, p_.n, p_.sides), b = get(p_.type, at_given, p_.n, p_.sides);
        const matrix residual = b - a * x;
        double worst = 0;
        for (std::int64_t j = 0; j < p_.sides; ++j)
            worst = std::max(worst, scaled(norm_of_column(residual, j), 1, norm_of(a) * norm_of_column(x, j)));
        return worst;
    }

    const problem& p_;
    const operand_addresses& set_;
    std::int64_t first_pivot_, e_;
    device where_;
    matrix a_;
};

} // namespace

std::vector<std::int64_t> checked_matrices(const problem& p) {
    const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
    const auto k = static_cast<double>(p.least());
    const double of_one = solves(p.what) ? n * n * static_cast<double>(p.sides)
                                         : k * (m * n + (p.what == routine::qr ? 2 * m * k : 0)); // Q, and Q^H Q
    const auto affordable = static_cast<std::int64_t>(std::min(most_multiplications / of_one, 1e6));
    const std::int64_t count = std::min(p.batch, std::clamp(affordable, fewest_matrices, most_matrices));
    std::vector<std::int64_t> all;
    for (std::int64_t c = 0; c < count; ++c)
        all.push_back(c == 0 ? 0 : c + 1 == count ? p.batch - 1 : c + (p.batch - count) * c / count);
    return all;
}

findings check(const problem& p, const operand_addresses& set, std::int64_t first_pivot, device where) {
    findings found;
    for (const std::int64_t e : checked_matrices(p)) {
        const double ratio = judge(p, set, first_pivot, e, where).ratio();
        ++found.looked_at;
        found.worst = std::max(found.worst, ratio);
        if (ratio < largest_ratio) continue;
        if (found.wrong++ == 0) found.first = e;
    }
    return found;
}

} // namespace ricci::bench::factor
