// matrix_problem: random matrices, their statement, and LAPACK's judgement of what comes out.
#include "tests/kernels/matrix_problem.hpp"

#include "lowering/print.hpp"
#include "runtime/backend.hpp"
#include "runtime/run.hpp"
#include "tests/factor_ratios.hpp"
#include "tests/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>

namespace ricci::tests {
namespace {

using namespace lowering;
using number = wide_matrix::number;
using enum matrix_role;

enum : std::int32_t { row_label, column_label, batch_label, side_label, vector_label };

std::string_view name_of_layout(matrix_layout l) {
    constexpr std::string_view names[] = {"dense", "row-major", "interleaved", "padded", "reversed"};
    return names[static_cast<std::size_t>(l)];
}
std::string_view name_of_kind(matrix_kind k) {
    constexpr std::string_view names[] = {"random",    "graded",     "large", "small",   "singular",
                                          "dependent", "indefinite", "zero",  "with NaN"};
    return names[static_cast<std::size_t>(k)];
}

/// A tensor over rows, columns and the batch, in host memory with guards; either of the first may be one.
class batch_tensor {
  public:
    batch_tensor(scalar_type type, std::int64_t rows, std::int64_t columns, std::int64_t batch, matrix_layout layout)
        : type_(type), extent_{rows, columns, batch} {
        std::array<int, 3> order{0, 1, 2};
        if (layout == matrix_layout::row_major) order = {1, 0, 2};
        if (layout == matrix_layout::interleaved) order = {2, 0, 1};
        std::int64_t next = 1;
        for (const int a : order) {
            stride_[static_cast<std::size_t>(a)] = next;
            next *= std::max<std::int64_t>(extent_[static_cast<std::size_t>(a)], 1);
            if (layout == matrix_layout::padded && a == order[0]) next += 3;
        }
        if (layout == matrix_layout::reversed && rows > 0) {
            first_ = stride_[0] * (rows - 1) + 1, stride_[0] = -stride_[0];
            next += 1;
        }
        memory_ = std::make_unique<host_buffer>(static_cast<std::size_t>(next * size_of(type)));
        std::memset(memory_->data(), 0x5a, memory_->size());
    }

    std::byte* at(std::int64_t i, std::int64_t j, std::int64_t e) const {
        return memory_->data() + (first_ + i * stride_[0] + j * stride_[1] + e * stride_[2]) * size_of(type_);
    }
    number get(std::int64_t i, std::int64_t j, std::int64_t e) const {
        if (type_ == scalar_type::i32)
            return static_cast<long double>(*reinterpret_cast<const std::int32_t*>(at(i, j, e)));
        if (type_ == scalar_type::i64)
            return static_cast<long double>(*reinterpret_cast<const std::int64_t*>(at(i, j, e)));
        const auto [re, im] = read_element(at(i, j, e), type_);
        return {re, im};
    }
    void set(std::int64_t i, std::int64_t j, std::int64_t e, number x) const {
        if (type_ == scalar_type::i32)
            *reinterpret_cast<std::int32_t*>(at(i, j, e)) = static_cast<std::int32_t>(x.real());
        else if (type_ == scalar_type::i64)
            *reinterpret_cast<std::int64_t*>(at(i, j, e)) = static_cast<std::int64_t>(x.real());
        else
            write_element(at(i, j, e), type_, static_cast<double>(x.real()), static_cast<double>(x.imag()));
    }
    wide_matrix matrix(std::int64_t e, bool conjugated = false) const {
        wide_matrix out(extent_[0], extent_[1]);
        for (std::int64_t j = 0; j < extent_[1]; ++j)
            for (std::int64_t i = 0; i < extent_[0]; ++i)
                out(i, j) = conjugated ? std::conj(get(i, j, e)) : get(i, j, e);
        return out;
    }
    void set_matrix(std::int64_t e, const wide_matrix& x, bool conjugated = false) const {
        for (std::int64_t j = 0; j < extent_[1]; ++j)
            for (std::int64_t i = 0; i < extent_[0]; ++i) set(i, j, e, conjugated ? std::conj(x(i, j)) : x(i, j));
    }

    scalar_type type() const { return type_; }
    std::int64_t extent(int a) const { return extent_[static_cast<std::size_t>(a)]; }
    std::int64_t stride(int a) const { return stride_[static_cast<std::size_t>(a)]; }
    std::int64_t first() const { return first_; }
    host_buffer& memory() const { return *memory_; }

  private:
    scalar_type type_;
    std::array<std::int64_t, 3> extent_{}, stride_{};
    std::int64_t first_ = 0;
    std::unique_ptr<host_buffer> memory_;
};

/// Memory of a device that holds a tensor's bytes, guards and all, while it lives.
class on_device {
  public:
    on_device(runtime::backend& b, const batch_tensor& t)
        : backend_(b), whole_(t.memory().whole()), ahead_(t.memory().data() - whole_.data()),
          memory_(static_cast<std::byte*>(b.allocate(whole_.size()))) {
        b.copy_in(memory_, whole_.data(), whole_.size());
    }
    ~on_device() { backend_.release(memory_); }
    on_device(const on_device&) = delete;
    on_device& operator=(const on_device&) = delete;
    std::byte* data() const { return memory_ + ahead_; }
    void fetch() const { backend_.copy_out(whole_.data(), memory_, whole_.size()); }

  private:
    runtime::backend& backend_;
    std::span<std::byte> whole_;
    std::ptrdiff_t ahead_;
    std::byte* memory_;
};

/// LAPACK's unblocked factors in long double, for what takes factors.
struct plain_factors {
    wide_matrix f;
    std::vector<std::int64_t> pivots;
    std::vector<number> tau;
};

plain_factors factor_plainly(wide_matrix x, routine what, bool unpivoted) {
    plain_factors out{x, {}, {}};
    const auto m = x.rows(), n = x.columns(), k = std::min(m, n);
    if (what == routine::cholesky_solve) {
        for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t p = 0; p < j; ++p)
                for (auto i = j; i < n; ++i) x(i, j) -= x(i, p) * std::conj(x(j, p));
            x(j, j) = std::sqrt(x(j, j).real());
            for (auto i = j + 1; i < n; ++i) x(i, j) /= x(j, j);
        }
    } else if (what == routine::lu_solve) {
        for (std::int64_t c = 0; c < k; ++c) {
            auto p = c;
            for (auto i = c; i < m && !unpivoted; ++i)
                if (std::abs(x(i, c)) > std::abs(x(p, c))) p = i;
            out.pivots.push_back(p);
            for (std::int64_t j = 0; j < n; ++j) std::swap(x(c, j), x(p, j));
            for (auto i = c + 1; i < m && x(c, c) != number(0); ++i) {
                x(i, c) /= x(c, c);
                for (auto j = c + 1; j < n; ++j) x(i, j) -= x(i, c) * x(c, j);
            }
        }
    } else {
        for (std::int64_t c = 0; c < k; ++c) {
            long double below = 0;
            for (auto i = c + 1; i < m; ++i) below += std::norm(x(i, c));
            const auto alpha = x(c, c);
            if (below == 0 && alpha.imag() == 0) {
                out.tau.emplace_back(0);
                continue;
            }
            const auto beta = -std::copysign(std::sqrt(std::norm(alpha) + below), alpha.real());
            const number tau{(beta - alpha.real()) / beta, -alpha.imag() / beta};
            for (auto i = c + 1; i < m; ++i) x(i, c) /= alpha - beta;
            x(c, c) = beta;
            for (auto j = c + 1; j < n; ++j) {
                auto sum = x(c, j);
                for (auto i = c + 1; i < m; ++i) sum += std::conj(x(i, c)) * x(i, j);
                sum *= std::conj(tau);
                x(c, j) -= sum;
                for (auto i = c + 1; i < m; ++i) x(i, j) -= x(i, c) * sum;
            }
            out.tau.push_back(tau);
        }
    }
    out.f = std::move(x);
    return out;
}

class problem_runner {
  public:
    problem_runner(const matrix_problem& p, std::int32_t device)
        : p_(p), device_(device), random_(p.seed), least_(std::min(p.m, p.n)) {}

    matrix_outcome run() {
        make_operands();
        std::vector<std::vector<std::byte>> before;
        for (const auto& t : tensors_) before.emplace_back(t->memory().whole().begin(), t->memory().whole().end());
        execute();
        check_untouched(before);
        for (std::int64_t e = 0; e < p_.batch && out_.mistake.empty(); ++e) judge(e);
        if (out_.mistake.empty() && !(out_.ratio < largest_ratio) && p_.kind != matrix_kind::with_nan)
            fail("ratio {:.3g}", out_.ratio);
        return out_;
    }

  private:
    template <class... Args>
    void fail(fmt::format_string<Args...> format, Args&&... args) {
        if (out_.mistake.empty())
            out_.mistake = to_string(p_) + ": " + fmt::format(format, std::forward<Args>(args)...);
    }

    bool is(routine r) const { return p_.what == r; }
    bool is_of_q() const { return is(routine::apply_q) || is(routine::form_q); }
    bool takes_factors() const { return p_.what > routine::triangular_solve; }
    bool has_sides() const {
        return !factors_in_place(p_.what) && !is(routine::inverse) && !is(routine::log_determinant);
    }
    bool is_definite() const { return is(routine::cholesky) || is(routine::cholesky_solve) || p_.positive; }
    bool is_wide_least_squares() const { return is(routine::least_squares) && p_.m < p_.n; }
    std::int64_t solution_rows() const { return is_of_q() ? p_.m : p_.n; }

    // ---- operands

    batch_tensor* add(matrix_role role, scalar_type type, std::int64_t rows, std::int64_t columns,
                      matrix_layout layout) {
        tensors_.push_back(std::make_unique<batch_tensor>(type, rows, columns, p_.batch, layout));
        of_role_[static_cast<std::size_t>(role)] = tensors_.back().get();
        return tensors_.back().get();
    }
    batch_tensor* of(matrix_role r) const { return of_role_[static_cast<std::size_t>(r)]; }

    number random_number() {
        std::uniform_real_distribution<double> unit(-1, 1);
        const double re = unit(random_), im = unit(random_);
        return is_complex(p_.type) ? number(re, im) : number(re);
    }

    void make_operands() {
        add(matrix, p_.type, p_.m, p_.n, p_.layout);
        const auto integer = p_.wide ? scalar_type::i64 : scalar_type::i32;
        if ((is(routine::lu) || is(routine::lu_solve)) && !p_.unpivoted)
            add(vector, integer, least_, 1, matrix_layout::dense);
        if (is(routine::qr) || is(routine::qr_solve) || is_of_q())
            add(vector, p_.type, least_, 1, matrix_layout::dense);
        if (!is_of_q()) add(info, integer, 1, 1, matrix_layout::dense);
        if (is(routine::log_determinant)) {
            add(log_abs, real_of(p_.type), 1, 1, matrix_layout::dense);
            add(sign, p_.type, 1, 1, matrix_layout::dense);
        }
        if (is(routine::inverse) && p_.apart) add(solution, p_.type, p_.n, p_.n, p_.sides);
        if (has_sides()) {
            add(solution, p_.type, solution_rows(), p_.r, p_.sides);
            if (p_.apart && !is(routine::form_q)) add(given, p_.type, p_.m, p_.r, p_.layout);
        }
        for (std::int64_t e = 0; e < p_.batch; ++e) make_matrix(e);
    }

    void make_matrix(std::int64_t e) {
        wide_matrix a(p_.m, p_.n);
        for (std::int64_t j = 0; j < p_.n; ++j)
            for (std::int64_t i = 0; i < p_.m; ++i) a(i, j) = random_number();
        const bool is_double = real_of(p_.type) == scalar_type::f64;
        if (p_.kind == matrix_kind::zero) a = wide_matrix(p_.m, p_.n);
        if (is_definite() && p_.kind != matrix_kind::zero) {
            for (std::int64_t j = 0; j < p_.n; ++j) {
                a(j, j) = std::abs(a(j, j)) + static_cast<long double>(p_.n);
                for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::conj(a(j, i));
            }
            if (p_.kind == matrix_kind::indefinite) a(p_.n / 2, p_.n / 2) = -1;
        }
        if (is(routine::triangular_solve))
            for (std::int64_t j = 0; j < p_.n; ++j) a(j, j) += number(static_cast<long double>(p_.n));
        if (is_wide_least_squares() &&
            p_.kind !=
                matrix_kind::zero) // well-conditioned, as xQRT13 makes them: a range is as exact as its condition
            for (std::int64_t i = 0; i < p_.m; ++i) a(i, i) += number(static_cast<long double>(p_.n));
        if (p_.kind == matrix_kind::graded)
            for (std::int64_t j = 0; j < p_.n; ++j)
                for (std::int64_t i = 0; i < p_.m; ++i)
                    a(i, j) *= std::pow(10.0L, -(is_double ? 6.0L : 2.5L) * static_cast<long double>(i + j) /
                                                   static_cast<long double>(std::max(p_.m, p_.n)));
        const long double scale = p_.kind == matrix_kind::large   ? (is_double ? 1e200L : 1e30L)
                                  : p_.kind == matrix_kind::small ? (is_double ? 1e-200L : 1e-30L)
                                                                  : 1;
        for (std::int64_t j = 0; j < p_.n; ++j)
            for (std::int64_t i = 0; i < p_.m; ++i) a(i, j) *= scale;
        if (p_.kind == matrix_kind::singular && is_wide_least_squares())
            for (std::int64_t j = 0; j < p_.n; ++j) a(p_.m / 2, j) = 0;
        else if (p_.kind == matrix_kind::singular)
            for (std::int64_t i = 0; i < p_.m; ++i) a(i, p_.n / 2) = 0;
        if (p_.kind == matrix_kind::dependent)
            for (std::int64_t i = 0; i < p_.m; ++i) a(i, p_.n - 1) = a(i, 0);
        if (p_.kind == matrix_kind::with_nan) a(p_.m / 2, p_.n / 2) = std::nan("");
        of(matrix)->set_matrix(e, a, p_.conjugated); // rounds
        meant_.push_back(of(matrix)->matrix(e, p_.conjugated));
        if (takes_factors()) {
            auto f = factor_plainly(meant_.back(), p_.what, p_.unpivoted);
            of(matrix)->set_matrix(e, f.f, p_.conjugated);
            f.f = of(matrix)->matrix(e, p_.conjugated);
            for (std::int64_t k = 0; of(vector) != nullptr && k < least_; ++k) {
                const auto at = static_cast<std::size_t>(k);
                if (is(routine::lu_solve)) {
                    of(vector)->set(k, 0, e, static_cast<long double>(f.pivots[at]));
                } else {
                    of(vector)->set(k, 0, e, p_.conjugated ? std::conj(f.tau[at]) : f.tau[at]);
                    f.tau[at] = p_.conjugated ? std::conj(of(vector)->get(k, 0, e)) : of(vector)->get(k, 0, e);
                }
            }
            factors_.push_back(std::move(f));
        }
        if (has_sides() && !is(routine::form_q)) {
            const auto& to = p_.apart ? *of(given) : *of(solution);
            for (std::int64_t j = 0; j < p_.r; ++j)
                for (std::int64_t i = 0; i < to.extent(0); ++i) to.set(i, j, e, random_number());
            given_.push_back(to.matrix(e));
        }
    }

    // ---- the statement

    void execute() {
        auto& b = runtime::backend_of(ricci::device(device_));
        std::vector<std::unique_ptr<on_device>> memory;
        for (const auto& t : tensors_) memory.push_back(std::make_unique<on_device>(b, *t));
        const auto data = [&](const batch_tensor& t) {
            const auto found =
                std::find_if(tensors_.begin(), tensors_.end(), [&](const auto& o) { return o.get() == &t; });
            return memory[static_cast<std::size_t>(found - tensors_.begin())]->data();
        };
        statement s;
        s.call.what = p_.what, s.call.row = row_label, s.call.column = column_label;
        s.call.conjugated = p_.conjugated, s.call.unpivoted = p_.unpivoted, s.call.positive = p_.positive;
        s.call.upper = p_.upper, s.call.unit = p_.unit, s.call.adjoint = p_.adjoint;
        for (const auto* name : {"i", "j", "e", "r", "k"}) s.labels.push_back({name});
        s.labels[side_label].begin = 0, s.labels[side_label].end = p_.r;
        s.labels[vector_label].begin = 0, s.labels[vector_label].end = least_;
        const auto add_access = [&](matrix_role role, const batch_tensor& t, std::vector<std::int32_t> labels) {
            access a;
            a.type = t.type(), a.device = device_;
            a.data = data(t) + t.first() * size_of(t.type());
            a.first_position = static_cast<std::int32_t>(s.positions.size());
            a.position_count = static_cast<std::int32_t>(labels.size());
            const auto axis = [&](std::size_t n) {
                return labels.size() == 3 ? static_cast<int>(n) : n + 1 == labels.size() ? 2 : 0;
            };
            for (std::size_t n = 0; n < labels.size(); ++n) {
                s.positions.push_back(
                    {t.extent(axis(n)), t.stride(axis(n)), 0, static_cast<std::int32_t>(s.terms.size()), 1});
                s.terms.push_back({labels[n], 1});
            }
            s.call.of(role) = static_cast<std::int32_t>(s.accesses.size());
            s.accesses.push_back(a);
        };
        add_access(matrix, *of(matrix), {row_label, column_label, batch_label});
        if (of(vector) != nullptr) add_access(vector, *of(vector), {vector_label, batch_label});
        for (const auto r : {info, log_abs, sign})
            if (of(r) != nullptr) add_access(r, *of(r), {batch_label});
        if (is(routine::inverse))
            add_access(solution, p_.apart ? *of(solution) : *of(matrix), {column_label, row_label, batch_label});
        if (is(routine::inverse) && !p_.apart) {
            // in place element (i, j) of the inverse stands where the matrix's does
            auto& positions = s.positions;
            const auto first = static_cast<std::size_t>(s.accesses.back().first_position);
            positions[first].stride = of(matrix)->stride(0), positions[first + 1].stride = of(matrix)->stride(1);
        }
        if (has_sides()) {
            const auto unknown = is_of_q() ? row_label : column_label;
            add_access(solution, *of(solution), {unknown, side_label, batch_label});
            if (of(given) != nullptr) add_access(given, *of(given), {row_label, side_label, batch_label});
        }
        runtime::run(s);
        b.synchronize();
        for (const auto& m : memory) m->fetch();
    }

    // ---- the judgement

    /// All bytes but those of elements that are to be written.
    void check_untouched(const std::vector<std::vector<std::byte>>& before) {
        for (std::size_t t = 0; t < tensors_.size(); ++t) {
            const auto& now = *tensors_[t];
            const auto role =
                static_cast<matrix_role>(std::find(of_role_.begin(), of_role_.end(), &now) - of_role_.begin());
            matrix_call c;
            c.what = p_.what, c.of(matrix) = 0;
            const bool written = writes_role(c, role) || (role == matrix && is(routine::inverse) && !p_.apart);
            auto expected = before[t];
            const auto whole = now.memory().whole();
            for (std::int64_t e = 0; e < p_.batch && written; ++e)
                for (std::int64_t j = 0; j < now.extent(1); ++j)
                    for (std::int64_t i = 0; i < now.extent(0); ++i) {
                        if (role == matrix && is(routine::cholesky) && i < j) continue;
                        const auto at = static_cast<std::size_t>(now.at(i, j, e) - whole.data());
                        std::memcpy(expected.data() + at, whole.data() + at,
                                    static_cast<std::size_t>(size_of(now.type())));
                    }
            if (std::memcmp(expected.data(), whole.data(), whole.size()) != 0)
                fail("bytes of operand {} that are not to be written were", static_cast<int>(role));
        }
    }

    void note(double ratio) {
        if (!(ratio <= out_.ratio)) out_.ratio = ratio;
    }

    void judge(std::int64_t e) {
        if (of(info) != nullptr) out_.info.push_back(static_cast<std::int64_t>(of(info)->get(0, 0, e).real()));
        const auto code = of(info) != nullptr ? out_.info.back() : 0;
        if (code < 0 || code > std::max(p_.m, p_.n)) return fail("info of matrix {} is {}", e, code);
        if (factors_in_place(p_.what)) return judge_factors(e, code);
        if (is(routine::log_determinant)) return judge_determinant(e, code);
        judge_solutions(e, code);
    }

    void judge_factors(std::int64_t e, std::int64_t code) {
        const auto& a = meant_[static_cast<std::size_t>(e)];
        const auto f = of(matrix)->matrix(e);
        if (is(routine::cholesky)) {
            const bool fails_there = p_.kind == matrix_kind::indefinite || p_.kind == matrix_kind::with_nan;
            const bool is_unclear = p_.kind == matrix_kind::singular || p_.kind == matrix_kind::dependent;
            const auto expected = fails_there ? p_.n / 2 + 1 : p_.kind == matrix_kind::zero ? 1 : 0;
            if (!is_unclear && code != expected) return fail("info of matrix {} is {}, not {}", e, code, expected);
            return code == 0 ? note(cholesky_ratio(a, f, p_.type)) : void();
        }
        if (is(routine::qr)) {
            std::vector<number> tau;
            for (std::int64_t k = 0; k < least_; ++k) tau.push_back(of(vector)->get(k, 0, e));
            return note(qr_ratio(a, f, tau, p_.type));
        }
        std::vector<std::int64_t> pivots;
        for (std::int64_t k = 0; of(vector) != nullptr && k < least_; ++k) {
            pivots.push_back(static_cast<std::int64_t>(of(vector)->get(k, 0, e).real()));
            if (pivots.back() < k || pivots.back() >= p_.m)
                return fail("pivot {} of matrix {} is {}", k, e, pivots.back());
        }
        note(lu_ratio(a, f, pivots, p_.type));
        if (p_.kind != matrix_kind::with_nan) check_pivots(e, f, !pivots.empty());
    }

    /// With partial pivoting no multiplier is larger than 1, in the measure that pivots are found by.
    void check_pivots(std::int64_t e, const wide_matrix& f, bool pivoted) {
        const long double largest = (is_complex(p_.type) ? std::sqrt(2.0L) : 1) * (1 + 8 * roundoff(p_.type));
        for (std::int64_t j = 0; pivoted && j < least_; ++j)
            for (auto i = j + 1; i < p_.m; ++i)
                if (f(j, j) != number(0) && std::abs(f(i, j)) > largest)
                    return fail("multiplier ({}, {}) of matrix {} is {}", i, j, e,
                                static_cast<double>(std::abs(f(i, j))));
        for (std::int64_t k = 0; k < least_; ++k)
            if (f(k, k) == number(0)) {
                if (out_.info.back() != k + 1) fail("info of matrix {} is {}, not {}", e, out_.info.back(), k + 1);
                return;
            }
        if (out_.info.back() != 0) fail("info of matrix {} is {}, not 0", e, out_.info.back());
    }

    void judge_determinant(std::int64_t e, std::int64_t code) {
        const auto got = of(log_abs)->get(0, 0, e), direction = of(sign)->get(0, 0, e);
        if (code != 0) {
            if (!(std::isinf(got.real()) && got.real() < 0 && direction == number(0)))
                fail("the determinant of singular matrix {} is not 0", e);
            return;
        }
        auto x = meant_[static_cast<std::size_t>(e)];
        if (p_.positive)
            for (std::int64_t j = 0; j < p_.n; ++j)
                for (std::int64_t i = 0; i < j; ++i) x(i, j) = std::conj(x(j, i));
        const auto plain = factor_plainly(x, routine::lu_solve, false);
        long double log = 0;
        number product = 1;
        for (std::int64_t k = 0; k < p_.n; ++k) {
            const auto d = plain.f(k, k);
            log += std::log(std::abs(d));
            product *= d / std::abs(d) * (plain.pivots[static_cast<std::size_t>(k)] == k ? 1.0L : -1.0L);
        }
        // d(log det) = trace(A^-1 dA): the condition of random matrices of these sizes is some hundreds
        const long double unit =
            1000 * static_cast<long double>(p_.n) * roundoff(p_.type) * std::max(1.0L, std::abs(log) / 100);
        if (p_.kind == matrix_kind::random && (std::abs(got - log) > unit || std::abs(direction - product) > unit))
            fail("log |det| of matrix {} is off by {}, its sign by {}", e, static_cast<double>(std::abs(got - log)),
                 static_cast<double>(std::abs(direction - product)));
    }

    void judge_solutions(std::int64_t e, std::int64_t code) {
        const auto& into = is(routine::inverse) && !p_.apart ? *of(matrix) : *of(solution);
        const auto x = into.matrix(e);
        const auto at = static_cast<std::size_t>(e);
        if (is(routine::least_squares)) {
            const auto expected = p_.kind == matrix_kind::singular ? least_ / 2 + 1
                                  : p_.kind == matrix_kind::zero   ? 1
                                                                   : 0;
            if (code != expected) return fail("info of matrix {} is {}, not {}", e, code, expected);
            for (std::int64_t j = 0; p_.kind == matrix_kind::with_nan && j < x.columns(); ++j)
                for (std::int64_t i = 0; i < x.rows(); ++i)
                    if (!std::isnan(x(i, j).real())) return fail("a solution with NaN matrix {} is a number", e);
        }
        if (code != 0) {
            for (std::int64_t j = 0; j < x.columns(); ++j)
                for (std::int64_t i = 0; i < x.rows(); ++i)
                    if (!std::isnan(x(i, j).real())) return fail("a solution with singular matrix {} is a number", e);
            return;
        }
        if (is_of_q()) {
            if (p_.m == 0) return;
            auto q = q_of(factors_[at].f, factors_[at].tau, is(routine::form_q) ? p_.r : p_.m);
            const auto scale = roundoff(p_.type) * static_cast<long double>(std::max<std::int64_t>(p_.m, 1));
            if (is(routine::form_q)) return note(static_cast<double>(norm_of(x - q) / scale));
            if (p_.adjoint) q = adjoint(q);
            return note(static_cast<double>(norm_of(x - q * given_[at]) / (norm_of(given_[at]) * scale)));
        }
        auto a = meant_[at];
        if (is_definite())
            for (std::int64_t j = 0; j < p_.n; ++j)
                for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::conj(a(j, i));
        if (is(routine::triangular_solve))
            for (std::int64_t j = 0; j < p_.n; ++j)
                for (std::int64_t i = 0; i < p_.n; ++i) {
                    if (p_.upper ? i > j : i < j) a(i, j) = 0;
                    if (i == j && p_.unit) a(i, j) = 1;
                }
        if (is(routine::inverse)) return note(inverse_ratio(a, x, p_.type));
        if (is_wide_least_squares()) return note(smallest_solution_ratio(a, x, given_[at], p_.type));
        const bool least = is(routine::least_squares) || is(routine::qr_solve);
        note(least && p_.m != p_.n ? least_squares_ratio(a, x, given_[at], p_.type)
                                   : solve_ratio(a, x, given_[at], p_.type));
    }

    const matrix_problem& p_;
    std::int32_t device_;
    std::mt19937_64 random_;
    std::int64_t least_;
    std::vector<std::unique_ptr<batch_tensor>> tensors_;
    std::array<batch_tensor*, matrix_roles> of_role_{};
    std::vector<wide_matrix> meant_, given_;
    std::vector<plain_factors> factors_;
    matrix_outcome out_;
};

} // namespace

std::string to_string(const matrix_problem& p) {
    std::string flags;
    for (const auto& [flag, name] :
         {std::pair(!p.apart, "in place"), std::pair(p.conjugated, "conjugated"), std::pair(p.unpivoted, "unpivoted"),
          std::pair(p.positive, "positive definite"), std::pair(p.upper, "upper"), std::pair(p.unit, "unit"),
          std::pair(p.adjoint, "adjoint"), std::pair(p.wide, "i64")})
        if (flag) flags += fmt::format(", {}", name);
    return fmt::format("{} {} {}x{}, r = {}, {} matrices, {}, sides {}, {}{}, seed {}", name_of(p.what),
                       name_of(p.type), p.m, p.n, p.r, p.batch, name_of_layout(p.layout), name_of_layout(p.sides),
                       name_of_kind(p.kind), flags, p.seed);
}

matrix_outcome run_matrix_problem(const matrix_problem& p, std::int32_t device) {
    return problem_runner(p, device).run();
}

} // namespace ricci::tests
