// reference_matrix: matrices of real or complex numbers, and what the ratios of LAPACK's testers need of them.
#pragma once

#include "bench/in_parallel.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace ricci::bench::factor {

// Real matrices are real here too: a complex product costs four times as much. T: double, long double, or
// std::complex of one of them.

template <class R>
R conjugate(R x) {
    return x;
}
template <class R>
std::complex<R> conjugate(const std::complex<R>& x) {
    return std::conj(x);
}

// Not operator*, which looks for NaN and repairs infinities.
template <class R>
void add_product(R& to, R a, R b) {
    to += a * b;
}
template <class R>
void add_product(std::complex<R>& to, const std::complex<R>& a, const std::complex<R>& b) {
    to += std::complex<R>(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}

template <class T>
class matrix {
  public:
    matrix(std::int64_t rows, std::int64_t columns)
        : rows_(rows), columns_(columns), numbers_(static_cast<std::size_t>(rows * columns)) {}

    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return columns_; }
    T& operator()(std::int64_t i, std::int64_t j) { return numbers_[static_cast<std::size_t>(i + j * rows_)]; }
    const T& operator()(std::int64_t i, std::int64_t j) const {
        return numbers_[static_cast<std::size_t>(i + j * rows_)];
    }

  private:
    std::int64_t rows_, columns_;
    std::vector<T> numbers_;
};

/// f(j) for each column, on threads where that is worth it.
template <class F>
void for_columns(std::int64_t columns, std::int64_t multiplications_of_one, const F& f) {
    constexpr std::int64_t worth_a_part = 200'000; // some hundred microseconds
    in_parallel(columns, worth_a_part / std::max<std::int64_t>(multiplications_of_one, 1) + 1,
                [&](std::int64_t first, std::int64_t last) {
                    for (std::int64_t j = first; j < last; ++j) f(j);
                });
}

template <class T>
matrix<T> operator*(const matrix<T>& a, const matrix<T>& b) {
    matrix<T> out(a.rows(), b.columns());
    for_columns(b.columns(), a.rows() * a.columns(), [&](std::int64_t j) {
        for (std::int64_t k = 0; k < a.columns(); ++k) {
            const T x = b(k, j);
            if (x == T(0)) continue; // half of a triangle
            for (std::int64_t i = 0; i < a.rows(); ++i) add_product(out(i, j), a(i, k), x);
        }
    });
    return out;
}

template <class T>
matrix<T> operator-(matrix<T> a, const matrix<T>& b) {
    for (std::int64_t j = 0; j < a.columns(); ++j)
        for (std::int64_t i = 0; i < a.rows(); ++i) a(i, j) -= b(i, j);
    return a;
}

template <class T>
matrix<T> identity(std::int64_t n) {
    matrix<T> out(n, n);
    for (std::int64_t k = 0; k < n; ++k) out(k, k) = T(1);
    return out;
}

template <class T>
matrix<T> adjoint(const matrix<T>& a) {
    matrix<T> out(a.columns(), a.rows());
    for (std::int64_t j = 0; j < a.columns(); ++j)
        for (std::int64_t i = 0; i < a.rows(); ++i) out(j, i) = conjugate(a(i, j));
    return out;
}

template <class T>
long double norm_of_column(const matrix<T>& a, std::int64_t j) {
    long double sum = 0;
    for (std::int64_t i = 0; i < a.rows(); ++i) sum += std::abs(a(i, j));
    return sum;
}

/// The 1-norm; NaN where an element is.
template <class T>
long double norm_of(const matrix<T>& a) {
    long double largest = 0;
    for (std::int64_t j = 0; j < a.columns(); ++j) {
        const long double sum = norm_of_column(a, j);
        if (std::isnan(sum)) return sum;
        largest = std::max(largest, sum);
    }
    return largest;
}

template <class T>
matrix<T> lower_of(const matrix<T>& f, bool unit) {
    const std::int64_t k = std::min(f.rows(), f.columns());
    matrix<T> out(f.rows(), k);
    for (std::int64_t j = 0; j < k; ++j)
        for (std::int64_t i = j; i < f.rows(); ++i) out(i, j) = i == j && unit ? T(1) : f(i, j);
    return out;
}

template <class T>
matrix<T> upper_of(const matrix<T>& f) {
    const std::int64_t k = std::min(f.rows(), f.columns());
    matrix<T> out(k, f.columns());
    for (std::int64_t j = 0; j < f.columns(); ++j)
        for (std::int64_t i = 0; i < std::min(k, j + 1); ++i) out(i, j) = f(i, j);
    return out;
}

/// The lower triangle and its conjugate.
template <class T>
matrix<T> hermitian(matrix<T> a) {
    for (std::int64_t j = 0; j < a.columns(); ++j) {
        a(j, j) = T(std::real(a(j, j)));
        for (std::int64_t i = 0; i < j; ++i) a(i, j) = conjugate(a(j, i));
    }
    return a;
}

/// The first `columns` of Q, the product of reflectors I - tau v v^H, of which the last one is applied first.
template <class T>
matrix<T> q_of(const matrix<T>& f, const matrix<T>& tau, std::int64_t columns) {
    matrix<T> q(f.rows(), columns);
    for_columns(q.columns(), 2 * f.rows() * tau.rows(), [&](std::int64_t j) {
        q(j, j) = T(1);
        for (std::int64_t k = std::min(j, tau.rows() - 1); k >= 0; --k) { // those behind meet zeros
            T sum = q(k, j);
            for (std::int64_t i = k + 1; i < f.rows(); ++i) add_product(sum, conjugate(f(i, k)), q(i, j));
            sum *= tau(k, 0);
            q(k, j) -= sum;
            for (std::int64_t i = k + 1; i < f.rows(); ++i) add_product(q(i, j), -f(i, k), sum);
        }
    });
    return q;
}

/// Rows exchanged as LU's pivots say, which count from 0.
template <class T>
matrix<T> exchanged(matrix<T> a, const std::vector<std::int64_t>& pivots) {
    for (std::size_t k = 0; k < pivots.size(); ++k)
        for (std::int64_t j = 0; j < a.columns(); ++j) std::swap(a(static_cast<std::int64_t>(k), j), a(pivots[k], j));
    return a;
}

/// What of `x` is not in the space of `a`'s rows, by Gram and Schmidt, twice, so that it is so to the last digits.
template <class T>
matrix<T> beyond_rows(const matrix<T>& a, matrix<T> x) {
    matrix<T> rows = adjoint(a);
    const auto subtract = [&](std::int64_t k, matrix<T>& from, std::int64_t j) {
        T along(0);
        for (std::int64_t i = 0; i < rows.rows(); ++i) add_product(along, conjugate(rows(i, k)), from(i, j));
        for (std::int64_t i = 0; i < rows.rows(); ++i) add_product(from(i, j), -rows(i, k), along);
    };
    for (std::int64_t j = 0; j < rows.columns(); ++j) {
        for (int pass = 0; pass < 2; ++pass)
            for (std::int64_t k = 0; k < j; ++k) subtract(k, rows, j);
        decltype(std::norm(T())) squares = 0;
        for (std::int64_t i = 0; i < rows.rows(); ++i) squares += std::norm(rows(i, j));
        if (squares == 0) continue; // a row that others have
        for (std::int64_t i = 0; i < rows.rows(); ++i) rows(i, j) /= std::sqrt(squares);
    }
    for_columns(x.columns(), 2 * rows.rows() * rows.columns(), [&](std::int64_t j) {
        for (std::int64_t k = 0; k < rows.columns(); ++k) subtract(k, x, j);
    });
    return x;
}

} // namespace ricci::bench::factor
