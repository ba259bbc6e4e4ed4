// text_access: reads the accesses of a text: names, positions, indices and index tables.
#include "dsl/text_access.hpp"

#include "dsl/text_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ricci::dsl {

std::int32_t access_parser::access(std::size_t column, std::string_view word) {
    if (out().accesses.size() > lowering::max_operands)
        fail(column, fmt::format("more than {} accesses on the right side", lowering::max_operands));
    column_ = column, word_ = word;
    lowering::access a;
    a.name = word;
    if (word == padded_keyword) {
        a.padded = true;
        want("(", "'(' and the name of a tensor: padded(D)(i, j + r - 1)");
        if (!is_letter(peek())) expected("the name of a tensor");
        const std::size_t inner = at_;
        a.name = name();
        if (!is_text_name(a.name)) fail(inner, fmt::format("'{}' cannot name a tensor", a.name));
        want(")", "')'");
        if (peek() != '(') expected("'(' and the positions");
    }
    a.first_position = static_cast<std::int32_t>(out().positions.size());
    if (take("(") && !take(")")) positions(a.first_position);
    if (peek() == '(')
        fail(column,
             fmt::format("'{}' is no function of a tensor; there is padded, and for index tables distinct and "
                         "atomic",
                         word));
    a.position_count = static_cast<std::int32_t>(out().positions.size()) - a.first_position;
    const auto number = append(a, column);
    for (table& t : std::exchange(tables_, {})) {
        out().positions[static_cast<std::size_t>(t.gathered)].table =
            static_cast<std::int32_t>(out().accesses.size());
        t.access.first_position = static_cast<std::int32_t>(out().positions.size());
        t.access.position_count = static_cast<std::int32_t>(t.positions.size());
        out().positions.insert(out().positions.end(), t.positions.begin(), t.positions.end());
        append(t.access, t.column);
    }
    return number;
}

std::int32_t access_parser::append(const lowering::access& a, std::size_t column) {
    out().accesses.push_back(a);
    result_.access_columns.push_back(column);
    return static_cast<std::int32_t>(out().accesses.size()) - 1;
}

void access_parser::positions(std::int32_t first) {
    do position(first);
    while (take(","));
    want(")", "',' or ')'");
}

bool access_parser::gathered_position() {
    skip_blanks();
    const std::size_t column = at_;
    if (!is_letter(peek())) return false;
    table t;
    t.column = column;
    t.access.name = name();
    lowering::position p;
    const auto word = t.access.name;
    if ((word == distinct_keyword || word == atomic_keyword) && peek() == '(') {
        ++at_;
        if (!is_letter(peek())) expected(fmt::format("the name of an index table: {}(p)(e)", word));
        t.access.name = name();
        p.distinct = word == distinct_keyword, p.atomic = word == atomic_keyword;
        want(")", "')'");
        if (peek() != '(') expected("'(' and the positions");
    } else if (peek() != '(' || !holds_letter()) {
        at_ = column;
        return false;
    }
    if (!is_text_name(t.access.name)) fail_as_table(column, t.access.name);
    if (in_table_) fail(column, "the positions of an index table cannot be gathered themselves");
    want("(", "'('");
    in_table_ = true;
    const auto first = out().positions.size();
    positions(static_cast<std::int32_t>(first));
    t.positions.assign(out().positions.begin() + static_cast<std::ptrdiff_t>(first), out().positions.end());
    out().positions.resize(first);
    in_table_ = false;
    t.gathered = static_cast<std::int32_t>(first);
    p.table = 0; // known when the access that it stands in ends
    out().positions.push_back(p);
    tables_.push_back(std::move(t));
    if (peek() != ',' && peek() != ')') expected("',' or ')': the entry of an index table is a position by itself");
    return true;
}

void access_parser::fail_as_table(std::size_t column, std::string_view word) const {
    if (is_nearly_routine(word_)) fail(column_, no_routine(word_));
    fail(column,
         fmt::format("'{}' is no index table, whose entries alone stand in a position beside affine indices", word));
}

bool access_parser::holds_letter() const {
    const auto end = source_.find(')', at_);
    return std::any_of(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                       source_.begin() + static_cast<std::ptrdiff_t>(std::min(end, source_.size())), is_letter);
}

void access_parser::position(std::int32_t first_position) {
    skip_blanks();
    if (out().positions.size() - static_cast<std::size_t>(first_position) == lowering::max_axes)
        fail(at_, fmt::format("more than {} positions", lowering::max_axes));
    if (gathered_position()) return;
    lowering::position p;
    p.first_term = static_cast<std::int32_t>(out().terms.size());
    bool negative = take("-");
    if (!negative) take("+");
    bool plain = !negative;
    for (;;) {
        plain &= term(p, negative);
        negative = peek() == '-';
        if (!negative && peek() != '+') break;
        ++at_;
        plain = false;
    }
    // i + 0 bounds i no more than i + 1 does; in IR 1 a second term marks it as affine, as the C++ capture does.
    const bool comes_out_plain = static_cast<std::int32_t>(out().terms.size()) == p.first_term + 1 && p.offset == 0 &&
                                 out().terms.back().coefficient == 1;
    if (comes_out_plain && !plain) out().terms.push_back({out().terms.back().label, 0});
    p.term_count = static_cast<std::int32_t>(out().terms.size()) - p.first_term;
    out().positions.push_back(p);
}

bool access_parser::term(lowering::position& p, bool negative) {
    skip_blanks();
    const std::size_t column = at_;
    std::int64_t coefficient = negative ? -1 : 1;
    std::int32_t label = -1;
    int factors = 0;
    do {
        ++factors;
        if (is_digit(peek())) {
            if (__builtin_mul_overflow(coefficient, integer(), &coefficient)) overflow(column);
        } else if (is_letter(peek())) {
            if (label >= 0) fail(at_, "a position must be affine in its indices: this is a product of two");
            label = index();
        } else {
            expected("an index or an integer");
        }
    } while (take("*"));
    if (label < 0) {
        if (__builtin_add_overflow(p.offset, coefficient, &p.offset)) overflow(column);
        return false;
    }
    const auto first = out().terms.begin() + p.first_term;
    const auto same = std::find_if(first, out().terms.end(), [&](const auto& t) { return t.label == label; });
    if (same != out().terms.end()) {
        if (__builtin_add_overflow(same->coefficient, coefficient, &same->coefficient)) overflow(column);
        return false;
    }
    if (out().terms.end() - first == lowering::max_axes)
        fail(column, fmt::format("more than {} indices in a position", lowering::max_axes));
    out().terms.push_back({label, coefficient});
    return factors == 1;
}

void access_parser::overflow(std::size_t column) const { fail(column, "the position does not fit in 64 bits"); }

std::int32_t access_parser::index() {
    const std::size_t column = at_;
    const std::string_view word = name();
    auto& labels = out().labels;
    auto found = std::find_if(labels.begin(), labels.end(), [&](const auto& l) { return l.name == word; });
    if (found == labels.end()) {
        labels.push_back({word});
        result_.label_columns.push_back(column);
        found = labels.end() - 1;
    }
    if (take("(")) {
        const std::int64_t begin = bound();
        want(",", "',': the range of an index is written m(begin, end)");
        const std::int64_t end = bound();
        want(")", "')'");
        if (end < begin)
            fail(column, fmt::format("the range of '{}' ends before it begins: [{}, {})", word, begin, end));
        if (found->has_range() && (found->begin != begin || found->end != end))
            fail(column, fmt::format("index '{}' has two ranges: [{}, {}) and [{}, {})", word, found->begin,
                                     found->end, begin, end));
        found->begin = begin;
        found->end = end;
    }
    return static_cast<std::int32_t>(found - labels.begin());
}

bool access_parser::holds_access() const {
    bool found = false, name = false; // whether a name came last
    int depth = 0;
    for (std::size_t at = at_; at < source_.size(); ++at) {
        const char c = source_[at];
        if (is_blank(c)) continue;
        if (c == '(' && ++depth > 1 && name) {
            const std::size_t inside = source_.find_first_not_of("0123456789+-, ", at + 1);
            found = found || inside == source_.npos || source_[inside] != ')' || source_[inside - 1] == '(';
        }
        if (c == ')' && --depth == 0) return found;
        name = is_letter(c) || (name && is_digit(c));
    }
    return false; // a parenthesis is missing, which is the mistake to name
}

} // namespace ricci::dsl
