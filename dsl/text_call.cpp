// text_call: reads calls of factorizations and solves in a text, `piv(k,e), info(e) = lu(A(i,j,e), i, j)`.
#include "dsl/text_call.hpp"

#include "dsl/text_names.hpp"
#include "dsl/text_roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ricci::dsl {

using lowering::call_option;
using lowering::routine;

bool call_parser::called(std::size_t results) {
    skip_blanks();
    call_columns at{.call = at_};
    const auto what = is_letter(peek()) ? routine_named(plain_name()) : std::nullopt;
    if (!what) {
        at_ = at.call;
        return false;
    }
    if (out().op != lowering::assignment::assign)
        fail(at.call, fmt::format("what {} gives is assigned with =", lowering::name_of(*what)));
    auto& call = out().call;
    call.what = *what;
    want("(", "'(' and the matrix");
    matrix();
    want(",", "',' and the index of the matrix's rows");
    at.row = (skip_blanks(), at_);
    call.row = bare_index();
    want(",", "',' and the index of the matrix's columns");
    at.column = (skip_blanks(), at_);
    call.column = bare_index();
    options();
    at.end = (skip_blanks(), at_);
    want(")", "',' or ')'");
    if (*what == routine::triangular_solve && !is_said(call_option::lower))
        fail(at.call, "triangular_solve wants to know which triangle is meant: lower or upper");
    arrange_call(result_, results, at);
    return true;
}

void call_parser::matrix() {
    skip_blanks();
    const std::size_t column = at_;
    auto& call = out().call;
    call.conjugated = name() == "conj" && take("(");
    if (!call.conjugated) at_ = column;
    const auto number = out().accesses.size();
    operand("the matrix: a tensor");
    if (call.conjugated) want(")", "')'");
    if (peek() != '\0') return;
    // cholesky(A(i,j,e, i, j): all is taken for positions of A
    const auto& a = out().accesses[number];
    for (std::size_t l = 0; l < out().labels.size(); ++l) {
        int count = 0;
        for (std::int32_t p = 0; p < a.position_count; ++p) {
            const auto& position = lowering::position_of(out(), a, p);
            if (position.term_count == 1 &&
                out().terms[static_cast<std::size_t>(position.first_term)].label == static_cast<std::int32_t>(l))
                ++count;
        }
        if (count > 1)
            fail(result_.access_columns[number],
                 fmt::format("'{}' has index {} twice, and the call has none: a ')' is missing behind the indices "
                             "of '{}'",
                             a.name, out().labels[l].name, a.name));
    }
}

void call_parser::options() {
    while (take(",")) {
        skip_blanks();
        const std::size_t column = at_;
        check_operand_begins("a tensor or an option");
        const auto what = out().call.what;
        const auto word = plain_name();
        if (const auto o = option_named(what, word)) {
            option(column, *o);
        } else if (peek() != '(') {
            fail(column, fmt::format("'{}' is no option of {}{}; a tensor stands with its indices", word,
                                     lowering::name_of(what), options_of(what)));
        } else {
            at_ = column;
            operand("a tensor or an option");
        }
    }
}

void call_parser::option(std::size_t column, call_option said) {
    for (const auto other : said_)
        if (lowering::exclude_each_other(said, other))
            fail(column, fmt::format("'{}' stands behind '{}': a call has one of them, once", lowering::name_of(said),
                                     lowering::name_of(other)));
    said_.push_back(said);
    lowering::set_option(out().call, said);
}

bool call_parser::is_said(call_option choice) const {
    return std::any_of(said_.begin(), said_.end(), [&](auto o) { return lowering::exclude_each_other(o, choice); });
}

std::string_view call_parser::plain_name() {
    const std::size_t column = at_;
    const auto word = name();
    if (take("::")) fail(column, fmt::format("a text has no namespaces: write {} without {}::", name(), word));
    return word;
}

void call_parser::check_operand_begins(const char* what) {
    if (is_letter(peek())) return;
    const bool is_signed = peek() == '-' || peek() == '+';
    const auto rest = source_.substr(at_);
    const auto behind = rest.find_first_not_of("0123456789. ");
    if (is_signed || (behind != 0 && behind != rest.npos && rest[behind] == '*'))
        fail(at_, fmt::format("a call takes tensors as they are, without a {}: compute this one in a statement of its "
                              "own first",
                              is_signed ? "sign" : "factor"));
    expected(what);
}

void call_parser::operand(const char* what) {
    check_operand_begins(what);
    const std::size_t column = at_;
    const std::string_view word = name();
    if (routine_named(word))
        fail(column,
             fmt::format("'{}' is a routine: what it gives goes to a tensor first, in a statement of its own", word));
    if (!is_text_name(word))
        fail(column, fmt::format("'{}' is no tensor: what a call takes are tensors with their indices", word));
    access(column, word);
    if (peek() != '\0' && std::string_view("+-*/").find(peek()) != std::string_view::npos)
        fail(at_, "a call takes tensors as they are: compute this one in a statement of its own first");
}

std::int32_t call_parser::bare_index() {
    if (!is_letter(peek())) expected("an index");
    const std::size_t column = at_;
    const auto word = name();
    const bool is_access = take("(") && is_letter(peek()); // of a range the bounds are numbers
    at_ = column;
    if (is_access) {
        const auto what = lowering::name_of(out().call.what);
        fail(column,
             fmt::format("'{}' stands where an index should: behind the matrix {} wants the indices of its rows "
                         "and columns, {}(A(i,j), i, j, ...)",
                         word, what, what));
    }
    return index();
}

void call_parser::refuse_misspelt_call() {
    skip_blanks();
    const std::size_t column = at_;
    const auto word = is_letter(peek()) ? name() : std::string_view();
    const bool is_call = is_text_name(word) && is_nearly_routine(word) && peek() == '(' && holds_access() &&
                         source_.find('=', at_) == std::string_view::npos;
    at_ = column;
    if (is_call) fail(column, no_routine(word));
}

} // namespace ricci::dsl
