// text_call: calls of factorizations and solves in a text.
#include "dsl/text_call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

namespace ricci::dsl {
namespace {

using lowering::call_option;
using lowering::matrix_role;
using lowering::routine;
using roles = std::vector<matrix_role>;

/// What stands left of =, and behind the matrix and its indices; of the arguments the first `needed` must be there.
struct call_form {
    roles results, arguments;
    std::size_t needed = 0;
};

call_form form_of(const lowering::matrix_call& c) {
    using enum matrix_role;
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
    case matrix_role::vector:
        return what == routine::qr || what > routine::lu_solve ? "tau" : "pivots";
    case matrix_role::info:
        return "info";
    case matrix_role::given:
        return "right-hand sides";
    case matrix_role::solution:
        return what == routine::inverse ? "the inverse" : "solutions";
    case matrix_role::log_abs:
        return "log |det|";
    case matrix_role::sign:
        return "the determinant's sign";
    default:
        return "the matrix";
    }
}

std::string list_of(const roles& all, routine what) {
    std::vector<std::string_view> names;
    for (const auto r : all) names.push_back(name_of(r, what));
    return fmt::format("{}", fmt::join(names, ", "));
}

/// [begin, end)
struct interval {
    std::int64_t begin = 0, end = 0;
    bool known = false;
};

interval range_of(const text_statement& s, std::int32_t label, std::span<const text_operand> operands) {
    const auto& u = s.unbound;
    const auto& l = u.labels[static_cast<std::size_t>(label)];
    if (l.has_range()) return {l.begin, l.end, true};
    for (const auto& a : u.accesses) {
        const auto found =
            std::find_if(operands.begin(), operands.end(), [&](const auto& o) { return o.name == a.name; });
        if (found == operands.end() || found->extents.size() != static_cast<std::size_t>(a.position_count)) continue;
        for (std::int32_t i = 0; i < a.position_count; ++i) {
            const auto& p = lowering::position_of(u, a, i);
            if (p.term_count != 1 || p.offset != 0) continue;
            const auto& term = u.terms[static_cast<std::size_t>(p.first_term)];
            if (term.label == label && term.coefficient == 1)
                return {0, found->extents[static_cast<std::size_t>(i)], true};
        }
    }
    return {};
}

} // namespace

std::optional<routine> routine_named(std::string_view name) {
    for (auto r = static_cast<int>(routine::cholesky); r <= static_cast<int>(routine::form_q); ++r)
        if (name_of(static_cast<routine>(r)) == name) return static_cast<routine>(r);
    return std::nullopt;
}

std::string options_of(routine what) {
    std::string out;
    for (std::size_t o = 0; o < lowering::call_options; ++o)
        if (const auto option = static_cast<call_option>(o); takes_option(what, option))
            out.append(out.empty() ? "" : ", ").append(name_of(option));
    return out;
}

std::optional<call_option> option_named(routine what, std::string_view name) {
    for (std::size_t o = 0; o < lowering::call_options; ++o)
        if (const auto option = static_cast<call_option>(o); name_of(option) == name && takes_option(what, option))
            return option;
    return std::nullopt;
}

void arrange_call(text_statement& s, std::size_t results, std::size_t call_column) {
    auto& u = s.unbound;
    auto& call = u.call;
    const auto what = name_of(call.what);
    for (const auto& p : u.positions)
        if (p.is_gathered())
            fail_in_text(s.source, s.number, call_column,
                         fmt::format("an index table cannot stand in a position of {}: copy the matrices first, "
                                     "B(i,j,e) = A(i,j,p(e))",
                                     what));
    auto form = form_of(call);
    const bool is_of_q = call.what == routine::apply_q || call.what == routine::form_q;
    const bool takes_solution = std::count(form.arguments.begin(), form.arguments.end(), matrix_role::solution) > 0;
    if (takes_solution && results > 0 && has_label(u, u.accesses[0], is_of_q ? call.row : call.column)) {
        // X(j,r,e) = solve(A(i,j,e), i, j, B(i,r,e)): the solutions are a result
        std::erase(form.arguments, matrix_role::solution);
        form.results.insert(form.results.begin(), matrix_role::solution);
        form.needed = form.arguments.size();
    }
    const auto arguments = u.accesses.size() - results - 1;
    if (results > form.results.size())
        fail_in_text(s.source, s.number, s.access_columns[form.results.size()],
                     form.results.empty()
                         ? fmt::format("{} gives nothing to the left of =", what)
                         : fmt::format("{} gives {}: {} too many", what, list_of(form.results, call.what),
                                       results - form.results.size()));
    if (arguments < form.needed || arguments > form.arguments.size())
        fail_in_text(
            s.source, s.number, call_column,
            fmt::format("{} takes the matrix, the indices of its rows and columns{}{}, not {} access{} behind them",
                        what, form.arguments.empty() ? "" : ", then ", list_of(form.arguments, call.what), arguments,
                        arguments == 1 ? "" : "es"));
    const auto matrix = static_cast<std::ptrdiff_t>(results);
    std::rotate(u.accesses.begin(), u.accesses.begin() + matrix, u.accesses.begin() + matrix + 1);
    std::rotate(s.access_columns.begin(), s.access_columns.begin() + matrix, s.access_columns.begin() + matrix + 1);
    call.of(matrix_role::matrix) = 0;
    for (std::size_t n = 0; n < results; ++n) call.of(form.results[n]) = static_cast<std::int32_t>(1 + n);
    for (std::size_t n = 0; n < arguments; ++n)
        call.of(form.arguments[n]) = static_cast<std::int32_t>(1 + results + n);
    if (call.what == routine::inverse && call.of(matrix_role::solution) < 0) {
        solve_into_matrix(u);
        s.access_columns.push_back(s.access_columns[0]);
    }
}

text_operand create_of_call(const text_statement& s, std::size_t n, std::span<const text_operand> operands) {
    const auto& u = s.unbound;
    const auto& call = u.call;
    const auto& a = u.accesses[n];
    const auto matrix =
        std::find_if(operands.begin(), operands.end(), [&](const auto& o) { return o.name == u.accesses[0].name; });
    const auto type = matrix == operands.end() ? lowering::scalar_type::f64 : matrix->type;
    const auto is = [&](matrix_role r) { return call.of(r) == static_cast<std::int32_t>(n); };
    const bool is_vector = is(matrix_role::vector);
    text_operand made;
    made.name = a.name;
    made.type = is(matrix_role::info) || (is_vector && call.what == routine::lu) ? lowering::scalar_type::i32
                : is(matrix_role::log_abs)                                       ? lowering::real_of(type)
                                                                                 : type;
    const auto extent_of = [&](std::int32_t label) { return range_of(s, label, operands); };
    std::int64_t stride = 1, bytes = 0;
    for (std::int32_t i = 0; i < a.position_count; ++i) {
        const auto& p = lowering::position_of(u, a, i);
        std::int64_t highest = p.offset;
        bool is_empty = false;
        for (int t = 0; t < p.term_count; ++t) {
            const auto& term = u.terms[static_cast<std::size_t>(p.first_term + t)];
            auto range = extent_of(term.label);
            if (!range.known && is_vector) {
                const auto rows = extent_of(call.row), columns = extent_of(call.column);
                range = {0, std::min(rows.end - rows.begin, columns.end - columns.begin),
                         rows.known && columns.known};
            }
            if (!range.known)
                fail_in_text(
                    s.source, s.number, s.access_columns[n],
                    fmt::format("'{}' does not exist, and nothing says how far its index {} runs: write {}(0, n)",
                                a.name, u.labels[static_cast<std::size_t>(term.label)].name,
                                u.labels[static_cast<std::size_t>(term.label)].name));
            is_empty = is_empty || range.begin == range.end;
            const auto last = term.coefficient > 0 ? range.end - 1 : range.begin;
            std::int64_t reach = 0;
            if (__builtin_mul_overflow(term.coefficient, last, &reach) ||
                __builtin_add_overflow(highest, reach, &highest))
                fail_in_text(s.source, s.number, s.access_columns[n], "a position does not fit in 64 bits");
        }
        const auto extent = is_empty ? 0 : std::max<std::int64_t>(highest + 1, 0);
        made.extents.push_back(extent);
        made.strides.push_back(stride);
        if (__builtin_mul_overflow(stride, std::max<std::int64_t>(extent, 1), &stride))
            fail_in_text(s.source, s.number, s.access_columns[n],
                         fmt::format("the size of '{}' does not fit in 64 bits", a.name));
    }
    if (__builtin_mul_overflow(stride, lowering::size_of(made.type), &bytes))
        fail_in_text(s.source, s.number, s.access_columns[n],
                     fmt::format("the size of '{}' does not fit in 64 bits", a.name));
    return made;
}

} // namespace ricci::dsl
