// text_statement: what a parsed statement reads and writes, before it is bound.
#include "dsl/text.hpp"

#include "dsl/text_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ricci {

bool text_statement::writes(std::size_t n) const {
    if (!is_call()) return n == 0;
    for (std::size_t r = 0; r < lowering::matrix_roles; ++r)
        if (unbound.call.access[r] == static_cast<std::int32_t>(n) &&
            lowering::writes_role(unbound.call, static_cast<lowering::matrix_role>(r)))
            return true;
    return false;
}

bool text_statement::reads(std::size_t n) const {
    if (!is_call()) return n > 0;
    using enum lowering::matrix_role;
    const auto& call = unbound.call;
    const auto is = [&](lowering::matrix_role r) { return call.of(r) == static_cast<std::int32_t>(n); };
    const bool in_place =
        call.of(given) < 0 && call.what != lowering::routine::inverse && call.what != lowering::routine::form_q;
    return is(matrix) || is(given) || (is(vector) && !lowering::writes_role(call, vector)) ||
           (is(solution) && in_place);
}

bool text_statement::reads(std::string_view name) const {
    for (std::size_t n = 0; n < unbound.accesses.size(); ++n)
        if (unbound.accesses[n].name == name && reads(n)) return true;
    return false;
}

bool text_statement::writes(std::string_view name) const {
    for (std::size_t n = 0; n < unbound.accesses.size(); ++n)
        if (unbound.accesses[n].name == name && writes(n)) return true;
    return false;
}

bool text_statement::is_table(std::size_t n) const {
    return std::any_of(unbound.positions.begin(), unbound.positions.end(),
                       [&](const auto& p) { return p.table == static_cast<std::int32_t>(n); });
}

bool text_statement::is_of_integers(std::size_t n) const {
    using lowering::matrix_role, lowering::routine;
    const auto& call = unbound.call;
    const auto is = [&](matrix_role r) { return call.of(r) == static_cast<std::int32_t>(n); };
    const bool has_pivots = call.what == routine::lu || call.what == routine::lu_solve;
    return is_table(n) || is(matrix_role::info) || (has_pivots && is(matrix_role::vector));
}

void text_statement::check_axes(std::size_t n, std::size_t axes) const {
    const auto& a = unbound.accesses[n];
    if (axes != static_cast<std::size_t>(a.position_count))
        fail_in_text(
            source, number, access_columns[n],
            fmt::format("'{}' has {} {}, not {}", a.name, axes, axes == 1 ? "axis" : "axes", a.position_count));
}

std::string text_statement::hint_about(std::size_t n) const {
    const auto& a = unbound.accesses[n];
    if (!is_table(n) || a.position_count != 2) return {};
    const auto first = unbound.positions.begin() + a.first_position;
    const auto is_integer = [](const auto& p) { return p.term_count == 0 && !p.is_gathered(); };
    if (is_integer(first[0]) == is_integer(first[1])) return {};
    return fmt::format("; or, if '{}' is an index, write integers for both ends of its range", a.name);
}

std::string text_statement::mistaken_call(std::size_t n) const {
    const auto& a = unbound.accesses[n];
    const bool stands_alone = unbound.nodes.size() < 2 && (unbound.nodes.empty() || n == 1);
    if (is_call() || a.padded || !stands_alone || a.position_count < 3) return {};
    const auto first = unbound.positions.begin() + a.first_position;
    if (!first->is_gathered()) return {};
    const auto& matrix = unbound.accesses[static_cast<std::size_t>(first->table)];
    const auto is_index_of_matrix = [&](const lowering::position& p) {
        return p.term_count == 1 && p.offset == 0 &&
               lowering::has_label(unbound, matrix, unbound.terms[static_cast<std::size_t>(p.first_term)].label);
    };
    if (!is_index_of_matrix(first[1]) || !is_index_of_matrix(first[2])) return {};
    return dsl::no_routine(a.name);
}

} // namespace ricci
