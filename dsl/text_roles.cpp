// text_roles: which operand of a call each access of a text is, and what is wrong with that.
#include "dsl/text_roles.hpp"

#include "lowering/matrix_call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::dsl {
namespace {

using lowering::matrix_role;
using lowering::routine;
using roles = std::vector<matrix_role>;
using enum matrix_role;

/// What stands left of =, and behind the matrix and its indices; of the arguments the first `needed` must be there.
struct call_form {
    roles results, arguments;
    std::size_t needed = 0;
};

call_form form_of(const lowering::matrix_call& c) {
    switch (c.what) {
    case routine::lu:
        return c.unpivoted ? call_form{{info}, {}} : call_form{{vector, info}, {}};
    case routine::qr:
        return {{vector, info}, {}};
    case routine::inverse:
        return {{info}, {solution}};
    case routine::log_determinant:
        return {{log_abs, sign, info}, {}};
    case routine::solve:
    case routine::least_squares:
    case routine::triangular_solve:
    case routine::cholesky_solve:
        return {{info}, {solution, given}, 1};
    case routine::lu_solve:
        if (c.unpivoted) return {{info}, {solution, given}, 1};
        return {{info}, {vector, solution, given}, 2};
    case routine::qr_solve:
        return {{info}, {vector, solution, given}, 2};
    case routine::apply_q:
        return {{}, {vector, solution, given}, 2};
    case routine::form_q:
        return {{}, {vector, solution}, 2};
    default:
        return {{info}, {}};
    }
}

std::string_view name_of(matrix_role r, routine what) {
    switch (r) {
    case vector:
        return what == routine::qr || what > routine::lu_solve ? "tau" : "pivots";
    case info:
        return "info";
    case given:
        return "right-hand sides";
    case solution:
        return what == routine::inverse   ? "the inverse"
               : what == routine::form_q  ? "the columns of Q"
               : what == routine::apply_q ? "what Q is applied to"
                                          : "solutions";
    case log_abs:
        return "log |det|";
    case sign:
        return "the determinant's sign";
    default:
        return "the matrix";
    }
}

std::string list_of(std::span<const matrix_role> all, routine what) {
    std::vector<std::string_view> names;
    for (const auto r : all) names.push_back(name_of(r, what));
    return fmt::format("{}", fmt::join(names, ", "));
}

class role_finder {
  public:
    role_finder(text_statement& s, std::size_t results, const call_columns& at)
        : s_(s), u_(s.unbound), call_(s.unbound.call), results_(results), at_(at), form_(form_of(call_)),
          arguments_(s.unbound.accesses.size() - results - 1) {}

    void run() {
        check_tables();
        check_matrix();
        find_solution();
        check_results();
        check_arguments();
        for (std::size_t n = 0; n < results_; ++n) check_result(n);
        arrange();
    }

  private:
    [[noreturn]] void fail(std::size_t column, const std::string& message) const {
        fail_in_text(s_.source, s_.number, column, message);
    }
    [[noreturn]] void fail_at(std::size_t access, const std::string& message) const {
        fail(s_.access_columns[access], message);
    }

    std::string_view what() const { return lowering::name_of(call_.what); }
    std::string_view index(std::int32_t label) const { return u_.labels[static_cast<std::size_t>(label)].name; }
    std::string_view name(std::size_t access) const { return u_.accesses[access].name; }
    const lowering::access& matrix_access() const { return u_.accesses[results_]; }
    std::size_t argument(std::size_t n) const { return results_ + 1 + n; }
    bool has(std::size_t access, std::int32_t label) const {
        return lowering::has_label(u_, u_.accesses[access], label);
    }
    /// The index of what is solved for.
    std::int32_t unknown() const { return works_on_rows(call_) ? call_.row : call_.column; }

    void check_tables() const {
        for (const auto& a : u_.accesses)
            for (std::int32_t p = 0; p < a.position_count; ++p) {
                const auto& position = lowering::position_of(u_, a, p);
                if (!position.is_gathered()) continue;
                const auto table = static_cast<std::size_t>(position.table);
                if (a.position_count == 1 && u_.accesses[table].position_count > 1) // transpose(A(i,j,e))
                    fail_at(static_cast<std::size_t>(&a - u_.accesses.data()),
                            fmt::format("'{}' is no function of a tensor: there is conj, of a matrix that is only "
                                        "read; its transpose has the indices of rows and columns exchanged",
                                        a.name));
                fail_at(table,
                        fmt::format("an index table cannot stand in a position of {}: copy the matrices first, "
                                    "B(i,j,e) = A(i,j,p(e))",
                                    what()));
            }
    }

    void check_matrix() const {
        if (matrix_access().position_count == 0)
            fail_at(results_, fmt::format("the matrix '{0}' stands without its indices: {1}({0}(i,j), i, j ...)",
                                          matrix_access().name, what()));
        if (call_.row == call_.column)
            fail(at_.column,
                 fmt::format("{} wants two different indices, of the matrix's rows and of its columns", what()));
        for (const auto label : {call_.row, call_.column})
            if (!lowering::has_label(u_, matrix_access(), label))
                fail(label == call_.row ? at_.row : at_.column,
                     fmt::format("index {}, of the matrix's {}, does not stand in {}", index(label),
                                 label == call_.row ? "rows" : "columns", matrix_access().name));
    }

    /// X(j,r,e) = solve(A(i,j,e), i, j, B(i,r,e)): the solutions are a result.
    void find_solution() {
        if (results_ == 0 || std::count(form_.arguments.begin(), form_.arguments.end(), solution) == 0) return;
        if (!has(0, unknown())) {
            if (const auto other = unknown() == call_.row ? call_.column : call_.row;
                has(0, other) && call_.what != routine::inverse && !is_of_q(call_.what)) {
                const bool of_adjoint = solves_adjoint(call_);
                fail_at(0, fmt::format("{}solutions have index {}, and right-hand sides {}: X({}) = {}(..., B({}){})",
                                       of_adjoint ? "with adjoint " : "", index(unknown()), index(other),
                                       index(unknown()), what(), index(other), of_adjoint ? ", adjoint" : ""));
            }
            // else info: what is solved for would stand among the arguments
            if (form_.needed > 0 && arguments_ == form_.needed && !has(argument(form_.needed - 1), unknown()))
                fail_at(0, fmt::format("neither '{}' nor '{}' has index {}, along which {} run: X({}) = {}(...)",
                                       name(0), name(argument(form_.needed - 1)), index(unknown()),
                                       name_of(solution, call_.what), index(unknown()), what()));
            return;
        }
        std::erase(form_.arguments, solution);
        form_.results.insert(form_.results.begin(), solution);
        form_.needed = form_.arguments.size();
    }

    void check_results() const {
        if (call_.what == routine::log_determinant && results_ == 0)
            fail(at_.call, "what log_determinant gives is assigned: log_abs(e), sign(e) = log_determinant(A(i,j,e), "
                           "i, j)");
        if (results_ <= form_.results.size()) return;
        if (form_.results.empty())
            fail_at(0, fmt::format("'{}' lacks index {}: {} gives {} alone, along that index", name(0),
                                   index(unknown()), what(), name_of(solution, call_.what)));
        if (call_.what == routine::lu && call_.unpivoted)
            fail_at(0, "lu gives no pivots where it is unpivoted, only info");
        fail_at(form_.results.size(),
                fmt::format("{} gives {}: {} too many", what(), list_of(form_.results, call_.what),
                            results_ - form_.results.size()));
    }

    /// "solve takes the matrix, the indices of its rows and columns, then solutions and perhaps right-hand sides".
    std::string takes() const {
        const auto all = std::span(form_.arguments);
        const auto needed = list_of(all.first(form_.needed), call_.what),
                   others = list_of(all.subspan(form_.needed), call_.what);
        if (all.empty()) return fmt::format("{} takes the matrix and the indices of its rows and columns", what());
        return fmt::format("{} takes the matrix, the indices of its rows and columns, then {}{}{}", what(), needed,
                           others.empty()   ? ""
                           : needed.empty() ? "perhaps "
                                            : " and perhaps ",
                           others);
    }

    /// Where an argument is one too many: lu_solve(A(i,j,e), i, j, piv(k,e), X(j,e), B(i,e), unpivoted).
    void check_pivots_unwanted() const {
        const auto first = argument(0);
        if (call_.what == routine::lu_solve && call_.unpivoted && !has(first, call_.row) && !has(first, call_.column))
            fail_at(first,
                    fmt::format("'{}' is one too many: where lu_solve is unpivoted it takes no pivots", name(first)));
    }
    /// Where an argument is one too many: X(j,e) = solve(A(i,j,e), i, j, X(j,e), B(i,e)).
    void check_sides() const {
        for (std::size_t n = 0; n < arguments_ && results_ > 0; ++n)
            if (name(argument(n)) == name(0))
                fail_at(argument(n), fmt::format("'{}' stands on both sides of =: what is solved for stands left of "
                                                 "it, or among the arguments",
                                                 name(0)));
    }

    void check_arguments() const {
        if (arguments_ > form_.arguments.size()) {
            check_pivots_unwanted();
            check_sides();
            const auto extra = argument(form_.arguments.size());
            fail_at(extra, fmt::format("'{}' is one too many: {}{}", name(extra), takes(),
                                       form_.results.empty()
                                           ? ""
                                           : fmt::format("; {} stand{} left of =", list_of(form_.results, call_.what),
                                                         form_.results.size() > 1 ? "" : "s")));
        }
        // pivots and tau may have a matrix's index as well as right-hand sides
        if (form_.needed > 1 && arguments_ == 1 && form_.arguments[1] == given &&
            (has(argument(0), call_.row) || has(argument(0), call_.column)))
            fail_at(argument(0), fmt::format("'{}' stands alone where {} and {} should: {}", name(argument(0)),
                                             name_of(vector, call_.what), name_of(given, call_.what), takes()));
        const bool follows_vector = form_.needed > 1 && form_.arguments[1] == solution;
        if (follows_vector && arguments_ > 0 && has(argument(0), unknown())) {
            // what is solved for, alone or before its right-hand sides: lu_solve(A(i,j,e), i, j, X(j,e), B(i,e))
            const bool is_solution = arguments_ == 1 || (!is_of_q(call_.what) && !has(argument(1), unknown()));
            if (is_solution)
                fail_at(argument(0), fmt::format("{} should stand before '{}': {}", name_of(vector, call_.what),
                                                 name(argument(0)), takes()));
        }
        if (arguments_ < form_.needed)
            fail(at_.end, fmt::format("{} missing: {}",
                                      form_.arguments[arguments_] == vector && call_.what != routine::lu_solve
                                          ? "tau is"
                                          : fmt::format("{} are", name_of(form_.arguments[arguments_], call_.what)),
                                      takes()));
    }

    /// The indices of a result that cannot count the batch; those that the matrix lacks may, but for pivots and tau.
    std::vector<std::int32_t> own_indices(std::size_t access, matrix_role role) const {
        std::vector<std::int32_t> out;
        for (std::int32_t l = 0; l < static_cast<std::int32_t>(u_.labels.size()); ++l)
            if (has(access, l) && (l == call_.row || l == call_.column ||
                                   (role == vector && !lowering::has_label(u_, matrix_access(), l))))
                out.push_back(l);
        return out;
    }

    /// What stands left of = as another thing than a call gives: L(i,j,e) = cholesky(A(i,j,e), i, j).
    void check_result(std::size_t n) const {
        const auto role = form_.results[n];
        if (role == solution) return;
        const auto own = own_indices(n, role);
        const std::size_t wanted = role == vector ? 1 : 0;
        if (own.size() == wanted) return;
        std::string has = own.empty()       ? "without an index of its own"
                          : own.size() == 1 ? "with index "
                                            : "with indices ";
        for (std::size_t l = 0; l < own.size(); ++l) has.append(l > 0 ? ", " : "").append(index(own[l]));
        fail_at(n, fmt::format(
                       "'{}' {} cannot be {}, whose place {}: {} gives {}{}", name(n), has, name_of(role, call_.what),
                       role == vector ? "goes along one index beside the batch's" : "has the batch's indices alone",
                       what(), list_of(form_.results, call_.what),
                       lowering::factors_in_place(call_.what) ? ", and leaves its factors in the matrix" : ""));
    }

    void arrange() {
        const auto matrix = static_cast<std::ptrdiff_t>(results_);
        std::rotate(u_.accesses.begin(), u_.accesses.begin() + matrix, u_.accesses.begin() + matrix + 1);
        std::rotate(s_.access_columns.begin(), s_.access_columns.begin() + matrix,
                    s_.access_columns.begin() + matrix + 1);
        call_.of(matrix_role::matrix) = 0;
        for (std::size_t n = 0; n < results_; ++n) call_.of(form_.results[n]) = static_cast<std::int32_t>(1 + n);
        for (std::size_t n = 0; n < arguments_; ++n)
            call_.of(form_.arguments[n]) = static_cast<std::int32_t>(argument(n));
        if (call_.what == routine::inverse && call_.of(solution) < 0) {
            solve_into_matrix(u_);
            s_.access_columns.push_back(s_.access_columns[0]);
        }
    }

    text_statement& s_;
    lowering::statement& u_;
    lowering::matrix_call& call_;
    std::size_t results_;
    const call_columns& at_;
    call_form form_;
    std::size_t arguments_;
};

} // namespace

void arrange_call(text_statement& s, std::size_t results, const call_columns& at) {
    role_finder(s, results, at).run();
}

} // namespace ricci::dsl
