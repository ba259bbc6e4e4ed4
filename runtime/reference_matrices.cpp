// reference_matrices: LAPACK's unblocked algorithms in double precision.
#include "runtime/reference_matrices.hpp"

#include "lowering/matrix_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;
using value = std::complex<double>;

value read(const void* element, scalar_type t) {
    switch (t) {
    case scalar_type::f32:
        return *static_cast<const float*>(element);
    case scalar_type::f64:
        return *static_cast<const double*>(element);
    case scalar_type::c64:
        return *static_cast<const std::complex<float>*>(element);
    case scalar_type::i32:
        return *static_cast<const std::int32_t*>(element);
    case scalar_type::i64:
        return static_cast<double>(*static_cast<const std::int64_t*>(element));
    default:
        return *static_cast<const value*>(element);
    }
}

void write(void* element, scalar_type t, value x) {
    switch (t) {
    case scalar_type::f32:
        *static_cast<float*>(element) = static_cast<float>(x.real());
        break;
    case scalar_type::f64:
        *static_cast<double*>(element) = x.real();
        break;
    case scalar_type::c64:
        *static_cast<std::complex<float>*>(element) = std::complex<float>(x);
        break;
    case scalar_type::i32:
        *static_cast<std::int32_t*>(element) = static_cast<std::int32_t>(x.real());
        break;
    case scalar_type::i64:
        *static_cast<std::int64_t*>(element) = static_cast<std::int64_t>(x.real());
        break;
    default:
        *static_cast<value*>(element) = x;
    }
}

/// Column by column.
struct dense {
    std::int64_t rows = 0, columns = 0;
    std::vector<value> values;
    dense(std::int64_t m, std::int64_t n) : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
    value& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i + j * rows)]; }
    value operator()(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
};

double pivot_size(value x) { return std::abs(x.real()) + std::abs(x.imag()); }

/// One matrix of the batch.
class one_matrix {
  public:
    one_matrix(const step& st, const std::function<void*(std::int32_t)>& address, const std::vector<std::int64_t>& at)
        : st_(st), w_(st.matrices), address_(address), at_(at), sizes_(matrix_sizes_of(st)), a_(sizes_.m, sizes_.n),
          x_(sizes_.m, std::max<std::int64_t>(sizes_.r, 0)) {}

    void run() {
        load(matrix_role::matrix, w_.row, w_.column, sizes_.m, a_);
        if (w_.conjugated) conjugate(a_);
        load_sides();
        if (w_.task == matrix_task::factor)
            factor();
        else
            substitute();
        store();
    }

  private:
    void load_sides() {
        if (sizes_.r == 0) return;
        if (w_.of(matrix_role::given) >= 0) {
            load(matrix_role::given, w_.given_row, w_.right, w_.smallest_norm ? sizes_.n : sizes_.m, x_);
        } else {
            for (std::int64_t i = 0; i < std::min(x_.rows, x_.columns); ++i) x_(i, i) = 1;
        }
    }

    static void conjugate(dense& d) {
        for (auto& v : d.values) v = std::conj(v);
    }

    char* element(matrix_role r, std::int32_t row, std::int64_t i, std::int32_t column, std::int64_t j) const {
        const auto& o = *operand_in(st_, r);
        auto offset = o.offset;
        const auto batch = batch_of_matrices(st_);
        for (std::size_t b = 0; b < batch.size(); ++b)
            offset += at_[b] * o.stride[static_cast<std::size_t>(batch[b])];
        if (row >= 0) offset += i * o.stride[static_cast<std::size_t>(row)];
        if (column >= 0) offset += j * o.stride[static_cast<std::size_t>(column)];
        return static_cast<char*>(address_(o.source)) + offset * size_of(o.type);
    }

    void load(matrix_role r, std::int32_t row, std::int32_t column, std::int64_t rows, dense& to) const {
        for (std::int64_t j = 0; j < to.columns; ++j)
            for (std::int64_t i = 0; i < rows; ++i) to(i, j) = read(element(r, row, i, column, j), st_.compute);
    }

    std::int64_t least() const { return std::min(sizes_.m, sizes_.n); }

    void note(std::int64_t k) {
        if (info_ == 0) info_ = k + 1;
    }

    // ---- factorizations

    void factor() {
        switch (w_.method) {
        case matrix_method::cholesky:
            cholesky();
            break;
        case matrix_method::qr:
            qr();
            break;
        default:
            lu();
            break;
        }
        if (sizes_.r == 0 && w_.of(matrix_role::log_abs) < 0 && w_.of(matrix_role::sign) < 0) return;
        solve_with_factors();
    }

    void cholesky() {
        for (std::int64_t j = 0; j < sizes_.n; ++j) {
            double d = a_(j, j).real();
            for (std::int64_t p = 0; p < j; ++p) d -= std::norm(a_(j, p));
            if (!(d > 0)) {
                a_(j, j) = d;
                return note(j);
            }
            a_(j, j) = std::sqrt(d);
            for (std::int64_t i = j + 1; i < sizes_.n; ++i) {
                for (std::int64_t p = 0; p < j; ++p) a_(i, j) -= a_(i, p) * std::conj(a_(j, p));
                a_(i, j) /= a_(j, j).real();
            }
        }
    }

    void lu() {
        for (std::int64_t k = 0; k < least(); ++k) {
            auto p = k;
            if (w_.method == matrix_method::lu)
                for (auto i = k + 1; i < sizes_.m; ++i)
                    if (pivot_size(a_(i, k)) > pivot_size(a_(p, k))) p = i;
            vector_.push_back(static_cast<double>(p));
            for (std::int64_t j = 0; j < sizes_.n; ++j) std::swap(a_(k, j), a_(p, j));
            if (a_(k, k) == 0.0) {
                note(k);
                continue;
            }
            for (auto i = k + 1; i < sizes_.m; ++i) {
                a_(i, k) /= a_(k, k);
                for (auto j = k + 1; j < sizes_.n; ++j) a_(i, j) -= a_(i, k) * a_(k, j);
            }
        }
    }

    void qr() {
        for (std::int64_t k = 0; k < least(); ++k) {
            double below = 0;
            for (auto i = k + 1; i < sizes_.m; ++i) below = std::hypot(below, std::abs(a_(i, k)));
            const auto alpha = a_(k, k);
            if (below == 0 && alpha.imag() == 0) {
                vector_.push_back(0);
                continue;
            }
            const double beta = -std::copysign(std::hypot(std::abs(alpha), below), alpha.real());
            const value tau{(beta - alpha.real()) / beta, -alpha.imag() / beta};
            for (auto i = k + 1; i < sizes_.m; ++i) a_(i, k) /= alpha - beta;
            a_(k, k) = beta;
            vector_.push_back(tau);
            for (auto j = k + 1; j < sizes_.n; ++j) reflect(k, std::conj(tau), a_, j);
        }
    }

    /// Column j of `to` minus tau v v^H of it, v reflector k.
    void reflect(std::int64_t k, value tau, dense& to, std::int64_t j) const {
        value sum = to(k, j);
        for (auto i = k + 1; i < sizes_.m; ++i) sum += std::conj(a_(i, k)) * to(i, j);
        sum *= tau;
        to(k, j) -= sum;
        for (auto i = k + 1; i < sizes_.m; ++i) to(i, j) -= a_(i, k) * sum;
    }

    // ---- solves

    void substitute() {
        if (w_.of(matrix_role::vector) >= 0) {
            const auto& o = *operand_in(st_, matrix_role::vector);
            for (std::int64_t k = 0; k < least(); ++k) {
                const auto v = read(element(matrix_role::vector, w_.along_vector, k, -1, 0), o.type);
                vector_.push_back(w_.conjugated ? std::conj(v) : v);
            }
        }
        solve_with_factors();
    }

    void solve_with_factors() {
        using enum matrix_method;
        switch (w_.method) {
        case cholesky:
            lower(false);
            upper(true, false);
            break;
        case lu:
        case lu_unpivoted:
            if (w_.adjoint) {
                adjoint_of_upper();
                upper(true, true);
                if (w_.method == lu) exchange_rows();
                break;
            }
            if (w_.method == lu) exchange_rows();
            lower(true);
            upper(false, false);
            break;
        case qr:
            if (w_.smallest_norm) {
                adjoint_of_upper();
                multiply_by_q(false);
                break;
            }
            multiply_by_q(true);
            upper(false, false);
            break;
        case triangular:
            if (w_.upper)
                upper(false, w_.unit);
            else
                lower(w_.unit), find_zero(w_.unit);
            break;
        case apply_q:
            multiply_by_q(false);
            break;
        case apply_qh:
            multiply_by_q(true);
            break;
        case form_q:
            multiply_by_q(false);
            break;
        }
    }

    /// By the pivots, those of the adjoint from the last one on.
    void exchange_rows() {
        for (std::int64_t step = 0; step < least(); ++step) {
            const auto k = w_.adjoint ? least() - 1 - step : step,
                       p = static_cast<std::int64_t>(vector_[static_cast<std::size_t>(k)].real());
            for (std::int64_t j = 0; j < x_.columns; ++j) std::swap(x_(k, j), x_(p, j));
        }
    }

    void find_zero(bool unit) {
        for (std::int64_t k = 0; k < least() && !unit; ++k)
            if (a_(k, k) == 0.0) note(k);
    }

    void lower(bool unit) {
        for (std::int64_t j = 0; j < x_.columns; ++j)
            for (std::int64_t k = 0; k < sizes_.n; ++k) {
                if (!unit) x_(k, j) /= a_(k, k);
                for (auto i = k + 1; i < sizes_.n; ++i) x_(i, j) -= a_(i, k) * x_(k, j);
            }
    }

    /// By the upper triangle, or the conjugate transpose of the lower one.
    void upper(bool of_lower, bool unit) {
        find_zero(unit);
        for (std::int64_t j = 0; j < x_.columns; ++j)
            for (auto k = sizes_.n - 1; k >= 0; --k) {
                for (auto i = k + 1; i < sizes_.n; ++i)
                    x_(k, j) -= (of_lower ? std::conj(a_(i, k)) : a_(k, i)) * x_(i, j);
                if (!unit) x_(k, j) /= of_lower ? std::conj(a_(k, k)) : a_(k, k);
            }
    }

    /// By the conjugate transpose of the upper triangle.
    void adjoint_of_upper() {
        find_zero(false);
        for (std::int64_t j = 0; j < x_.columns; ++j)
            for (std::int64_t k = 0; k < sizes_.n; ++k) {
                for (std::int64_t i = 0; i < k; ++i) x_(k, j) -= std::conj(a_(i, k)) * x_(i, j);
                x_(k, j) /= std::conj(a_(k, k));
            }
    }

    void multiply_by_q(bool adjoint) {
        for (std::int64_t step = 0; step < least(); ++step) {
            const auto k = adjoint ? step : least() - 1 - step;
            const auto tau = vector_[static_cast<std::size_t>(k)];
            for (std::int64_t j = 0; j < x_.columns; ++j) reflect(k, adjoint ? std::conj(tau) : tau, x_, j);
        }
    }

    // ---- results

    void store() const {
        const auto put = [&](matrix_role r, std::int32_t row, std::int64_t i, std::int32_t column, std::int64_t j,
                             value x) { write(element(r, row, i, column, j), operand_in(st_, r)->type, x); };
        if (w_.keeps_factors)
            for (std::int64_t j = 0; j < sizes_.n; ++j)
                for (auto i = w_.method == matrix_method::cholesky ? j : 0; i < sizes_.m; ++i)
                    put(matrix_role::matrix, w_.row, i, w_.column, j, a_(i, j));
        if (w_.task == matrix_task::factor && w_.of(matrix_role::vector) >= 0)
            for (std::int64_t k = 0; k < least(); ++k)
                put(matrix_role::vector, w_.along_vector, k, -1, 0, vector_[static_cast<std::size_t>(k)]);
        const bool is_of_q = w_.method >= matrix_method::apply_q;
        if (w_.of(matrix_role::info) >= 0) put(matrix_role::info, -1, 0, -1, 0, static_cast<double>(info_));
        if (w_.of(matrix_role::solution) >= 0) {
            const auto nan = std::numeric_limits<double>::quiet_NaN();
            const auto count = is_of_q || w_.smallest_norm ? sizes_.m : sizes_.n;
            for (std::int64_t j = 0; j < x_.columns; ++j)
                for (std::int64_t i = 0; i < count; ++i)
                    put(matrix_role::solution, w_.solution_row, i, w_.right, j,
                        info_ != 0 ? value{nan, nan} : x_(i, j));
        }
        store_determinant(put);
    }

    template <class Put>
    void store_determinant(const Put& put) const {
        if (w_.of(matrix_role::log_abs) < 0 && w_.of(matrix_role::sign) < 0) return;
        const bool is_cholesky = w_.method == matrix_method::cholesky;
        double log = 0;
        value sign = 1;
        for (std::int64_t k = 0; k < sizes_.n; ++k) {
            const auto d = a_(k, k);
            log += (is_cholesky ? 2 : 1) * std::log(std::abs(d));
            if (!is_cholesky) sign *= d / std::abs(d);
            if (w_.method == matrix_method::lu &&
                vector_[static_cast<std::size_t>(k)].real() != static_cast<double>(k))
                sign = -sign;
        }
        if (info_ != 0) {
            const bool is_singular = w_.method == matrix_method::lu;
            log = is_singular ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
            sign = is_singular ? value(0) : value{log, log};
        }
        if (w_.of(matrix_role::log_abs) >= 0) put(matrix_role::log_abs, -1, 0, -1, 0, log);
        if (w_.of(matrix_role::sign) >= 0) put(matrix_role::sign, -1, 0, -1, 0, sign);
    }

    const step& st_;
    const matrix_work& w_;
    const std::function<void*(std::int32_t)>& address_;
    const std::vector<std::int64_t>& at_;
    matrix_sizes sizes_;
    dense a_, x_;
    std::vector<value> vector_;
    std::int64_t info_ = 0;
};

} // namespace

void run_reference_matrices(const step& st, const std::function<void*(std::int32_t)>& address) {
    const auto batch = batch_of_matrices(st);
    std::vector<std::int64_t> at(batch.size(), 0);
    for (auto left = matrix_sizes_of(st).matrices; left > 0; --left) {
        one_matrix(st, address, at).run();
        for (std::size_t b = 0; b < batch.size(); ++b) {
            if (++at[b] < st.axes[static_cast<std::size_t>(batch[b])].extent) break;
            at[b] = 0;
        }
    }
}

} // namespace ricci::runtime
