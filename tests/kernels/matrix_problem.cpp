// matrix_problem: makes a problem's operands, runs its call on a device, and has what comes out judged.
#include "tests/kernels/matrix_problem.hpp"

#include "lowering/print.hpp"
#include "runtime/run.hpp"
#include "tests/kernels/matrix_problem_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace ricci::tests {
namespace {

using namespace lowering;
using enum matrix_role;

std::string_view name_of_layout(matrix_layout l) {
    constexpr std::string_view names[] = {"dense",    "row-major", "interleaved", "padded",
                                          "reversed", "between",   "displaced"};
    return names[static_cast<std::size_t>(l)];
}
std::string_view name_of_kind(matrix_kind k) {
    constexpr std::string_view names[] = {"random",    "graded",          "large",      "small", "singular",
                                          "dependent", "nearly singular", "indefinite", "zero",  "with NaN"};
    return names[static_cast<std::size_t>(k)];
}

class problem_runner {
  public:
    explicit problem_runner(const matrix_problem& p) : p_(p), random_(p.seed), operands_(p) {}

    matrix_outcome run(std::int32_t device, const std::function<void(const statement&)>& how) {
        for (std::int64_t e = 0; e < p_.matrices(); ++e) make(e);
        if (const auto* const sides = given_now())
            for (std::int64_t e = 0; e < p_.matrices(); ++e) before_.given.push_back(sides->matrix(e));
        std::vector<std::vector<std::byte>> bytes;
        for (auto* b : operands_.buffers()) bytes.emplace_back(b->whole().begin(), b->whole().end());
        run_on_device(operands_, device, [&](const statement& s) { how ? how(s) : runtime::run(s); });
        matrix_outcome out;
        if (auto touched = find_touched(bytes); !touched.empty())
            out.mistake = std::move(touched);
        else
            out = judge(p_, operands_, before_);
        if (!out.mistake.empty()) out.mistake = to_string(p_) + ": " + out.mistake;
        return out;
    }

  private:
    const matrix_operand* given_now() const {
        if (!has_right_sides(p_.what) || p_.what == routine::form_q) return nullptr;
        return operands_.in(p_.apart ? given : solution);
    }

    /// Matrix number e, unless it is the same memory as one before.
    void make(std::int64_t e) {
        const auto& to = *operands_.in(matrix);
        const auto* const place = p_.m * p_.n > 0 ? to.at(0, 0, e) : nullptr;
        const auto [found, is_new] = made_.emplace(place, before_.meant.size());
        if (is_new) {
            to.set_matrix(e, make_matrix(p_, random_), p_.conjugated); // rounds
            before_.meant.push_back(to.matrix(e, p_.conjugated));
            if (takes_factors(p_.what)) make_factors(e);
        } else {
            const auto n = found->second;
            before_.meant.push_back(wide_matrix(before_.meant[n]));
            if (takes_factors(p_.what)) before_.factors.push_back(plain_factors(before_.factors[n]));
        }
        if (takes_factors(p_.what)) write_vector(e);
        if (const auto* const sides = given_now())
            sides->set_matrix(e, random_matrix(sides->rows(), sides->columns(), p_.type, random_));
    }

    void make_factors(std::int64_t e) {
        const auto& to = *operands_.in(matrix);
        auto f = factor_plainly(before_.meant.back(), p_.what, p_.unpivoted);
        to.set_matrix(e, f.f, p_.conjugated);
        f.f = to.matrix(e, p_.conjugated);
        before_.factors.push_back(std::move(f));
    }

    void write_vector(std::int64_t e) {
        const auto* const to = operands_.in(vector);
        if (to == nullptr) return;
        auto& f = before_.factors.back();
        for (std::int64_t k = 0; k < to->rows(); ++k) {
            if (p_.what == routine::lu_solve) {
                to->set(k, 0, e, static_cast<long double>(f.pivots[static_cast<std::size_t>(k)]));
            } else {
                to->set(k, 0, e, p_.conjugated ? std::conj(f.tau(k, 0)) : f.tau(k, 0));
                f.tau(k, 0) = p_.conjugated ? std::conj(to->get(k, 0, e)) : to->get(k, 0, e);
            }
        }
    }

    bool is_written(matrix_role role) const {
        return writes_role(call_of(p_), role) || (role == matrix && p_.what == routine::inverse && !p_.apart);
    }

    /// A buffer in which other bytes have changed than those of elements that are to be written; empty: none has.
    std::string find_touched(const std::vector<std::vector<std::byte>>& before) const {
        const auto buffers = operands_.buffers();
        for (std::size_t n = 0; n < buffers.size(); ++n) {
            auto expected = before[n];
            const auto whole = buffers[n]->whole();
            std::string roles;
            for (std::size_t r = 0; r < matrix_roles; ++r) {
                const auto role = static_cast<matrix_role>(r);
                const auto* const o = operands_.in(role);
                if (o == nullptr || &o->memory() != buffers[n]) continue;
                roles += fmt::format(" {}", r);
                for (std::int64_t e = 0; e < p_.matrices() && is_written(role); ++e)
                    for (std::int64_t j = 0; j < o->columns(); ++j)
                        for (std::int64_t i = 0; i < o->rows(); ++i) {
                            if (role == matrix && p_.what == routine::cholesky && i < j) continue;
                            const auto at = static_cast<std::size_t>(o->at(i, j, e) - whole.data());
                            std::memcpy(expected.data() + at, whole.data() + at,
                                        static_cast<std::size_t>(size_of(o->type())));
                        }
            }
            if (std::memcmp(expected.data(), whole.data(), whole.size()) != 0)
                return fmt::format("bytes of operand{} that are not to be written were", roles);
        }
        return {};
    }

    const matrix_problem& p_;
    std::mt19937_64 random_;
    problem_operands operands_;
    matrix_inputs before_;
    std::map<const std::byte*, std::size_t> made_; ///< where a matrix begins, and which it is
};

} // namespace

bool is_wanted(matrix_kind kind, const matrix_problem& p) {
    if (kind == matrix_kind::random || (kind == matrix_kind::singular && p.what == routine::lu_solve)) return true;
    if (kind == matrix_kind::indefinite) return is_definite(p) && p.what != routine::cholesky_solve;
    if (p.what == routine::least_squares)
        return kind != matrix_kind::graded && kind != matrix_kind::dependent && kind != matrix_kind::nearly_singular;
    return factors_in_place(p.what) || p.what == routine::solve || p.what == routine::inverse ||
           p.what == routine::log_determinant;
}

bool is_wide_least_squares(const matrix_problem& p) { return p.what == routine::least_squares && p.m < p.n; }

std::string to_string(const matrix_problem& p) {
    std::string flags;
    for (const auto& [flag, name] :
         {std::pair(!p.apart, "in place"), std::pair(p.conjugated, "conjugated"), std::pair(p.unpivoted, "unpivoted"),
          std::pair(p.positive, "positive definite"), std::pair(p.upper, "upper"), std::pair(p.unit, "unit"),
          std::pair(p.adjoint, "adjoint"), std::pair(p.given_by_columns, "given by columns"),
          std::pair(p.wide, "i64")})
        if (flag) flags += fmt::format(", {}", name);
    const auto layouts = p.places != 0
                             ? fmt::format("places {}", p.places)
                             : fmt::format("{}, sides {}", name_of_layout(p.layout), name_of_layout(p.sides));
    const auto second = [](int axes, std::int64_t extent) {
        return axes > 1 ? fmt::format("*{}", extent) : std::string(axes == 0 ? " (no axis)" : "");
    };
    return fmt::format("{} {} {}x{}, r = {}{}, {}{} matrices, {}, {}{}, seed {}", name_of(p.what), name_of(p.type),
                       p.m, p.n, p.r, second(p.side_axes, p.more_sides), p.batch, second(p.batch_axes, p.more_batch),
                       layouts, name_of_kind(p.kind), flags, p.seed);
}

matrix_outcome run_matrix_problem(const matrix_problem& p, std::int32_t device,
                                  const std::function<void(const statement&)>& how) {
    return problem_runner(p).run(device, how);
}

} // namespace ricci::tests
