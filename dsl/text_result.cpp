// text_result: what a tensor becomes that a call in a text writes, where no operand has its name.
#include "dsl/text_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace ricci::dsl {
namespace {

using lowering::matrix_role;
using lowering::routine;

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

/// Nothing says how far an index of access n, which is to be made, runs, since nothing does of `bounding`.
[[noreturn]] void refuse_unbounded(const text_statement& s, std::size_t n, std::int32_t label, std::int32_t bounding,
                                   std::span<const text_operand> operands) {
    const auto& u = s.unbound;
    // an operand whose axes are of another number bounds nothing, and is the mistake
    for (std::size_t k = 0; k < u.accesses.size(); ++k)
        for (const auto& o : operands)
            if (o.name == u.accesses[k].name) s.check_axes(k, o.extents.size());
    const auto name = u.labels[static_cast<std::size_t>(bounding)].name;
    const bool is_solution = u.call.of(matrix_role::solution) == static_cast<std::int32_t>(n);
    const bool counts_batch = label == bounding && (!is_solution || u.call.what == routine::inverse);
    const auto why = counts_batch && !lowering::has_label(u, u.accesses[0], label)
                         ? fmt::format("its index {} is none of {}'s", name, u.accesses[0].name)
                         : fmt::format("nothing says how far {}index {} runs: write {}(0, n)",
                                       label == bounding ? "its " : "", name, name);
    fail_in_text(s.source, s.number, s.access_columns[n],
                 fmt::format("'{}' does not exist, and {}", u.accesses[n].name, why));
}

} // namespace

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
    made.type = s.is_of_integers(n)        ? lowering::scalar_type::i32
                : is(matrix_role::log_abs) ? lowering::real_of(type)
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
            auto bounding = term.label;
            if (!range.known && is_vector) {
                const auto rows = extent_of(call.row), columns = extent_of(call.column);
                range = {0, std::min(rows.end - rows.begin, columns.end - columns.begin),
                         rows.known && columns.known};
                bounding = rows.known ? call.column : call.row;
            }
            if (!range.known) refuse_unbounded(s, n, term.label, bounding, operands);
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
