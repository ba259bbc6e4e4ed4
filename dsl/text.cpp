// text: the parser of the notation, by recursive descent.
#include "dsl/text.hpp"

#include "dsl/text_call.hpp"
#include "dsl/text_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ricci {

namespace {

using dsl::is_digit;
using dsl::is_letter;
using lowering::operation;

// Bounds on what one statement may hold, so that neither this parser nor a pass that walks the tree runs out of
// stack.
constexpr int max_depth = 100;
constexpr std::size_t max_nodes = 1000;

class parser : dsl::call_parser {
  public:
    parser(std::string_view source, int number) : call_parser(source, number) {}

    text_statement statement() {
        if (!called(0)) assigned();
        if (peek() != '\0') fail_behind();
        // Names are views into the source until the whole statement is known to be right.
        for (auto& a : out().accesses) a.name = lowering::intern(a.name);
        for (auto& l : out().labels) l.name = lowering::intern(l.name);
        return std::move(result_);
    }

  private:
    void assigned() {
        refuse_misspelt_call();
        left();
        std::size_t results = 1;
        for (; take(","); ++results) left();
        if (take("+="))
            out().op = lowering::assignment::add;
        else if (take("-="))
            out().op = lowering::assignment::subtract;
        else if (!take("="))
            fail_without_sign();
        if (called(results)) return;
        if (results > 1) fail_with_results();
        sum(0);
    }

    void left() {
        skip_blanks();
        const std::size_t column = at_;
        if (peek() == '[')
            fail(column, fmt::format("results stand without brackets, each with its indices: {}", example));
        if (!is_letter(peek())) expected("the name of a tensor");
        const std::string_view word = name();
        if (word == "auto" && (is_letter(peek()) || peek() == '['))
            fail(column, fmt::format("a text declares nothing; results stand with their indices: {}", example));
        if (dsl::function_named(word))
            fail(column, fmt::format("'{}' is a function; it cannot be assigned to", word));
        if (dsl::routine_named(word)) fail(column, fmt::format("'{}' is a routine; it cannot be assigned to", word));
        access(column, word);
    }

    // -- mistakes

    static constexpr std::string_view example = "piv(k,e), info(e) = lu(A(i,j,e), i, j)";

    [[noreturn]] void fail_without_sign() {
        if (peek() == '\0')
            if (const auto said = result_.mistaken_call(0); !said.empty()) fail(result_.access_columns[0], said);
        expected("'=', '+=' or '-='");
    }

    [[noreturn]] void fail_with_results() {
        skip_blanks();
        const std::size_t column = at_;
        if (is_letter(peek()))
            if (const auto word = name(); is_text_name(word) && peek() == '(' && holds_access())
                fail(column, dsl::no_routine(word));
        fail(column, fmt::format("only a factorization or a solve has several results: {}", example));
    }

    [[noreturn]] void fail_in_expression(std::size_t column, std::string_view routine) const {
        fail(column, fmt::format("{} stands alone right of =: what it gives is in no expression", routine));
    }

    /// There is more behind a statement.
    [[noreturn]] void fail_behind() {
        if (!result_.is_call()) expected("an operator or the end of the statement");
        const auto what = lowering::name_of(out().call.what);
        if (std::string_view("+-*/").find(peek()) != std::string_view::npos) fail_in_expression(at_, what);
        if (peek() == '=') fail(at_, fmt::format("what a call gives stands left of it: {}", example));
        expected("';' or the end of the statement");
    }

    // -- expressions; each returns its node

    std::int32_t add(std::size_t column, operation kind, std::int32_t a, std::int32_t b = -1) {
        if (out().nodes.size() == max_nodes)
            fail(column, fmt::format("the right side is too long: more than {} operations and values", max_nodes));
        return out().add(kind, a, b);
    }

    std::int32_t number() {
        const std::size_t begin = at_;
        out().scalars.push_back(scalar());
        return add(begin, operation::scalar, static_cast<std::int32_t>(out().scalars.size()) - 1);
    }

    std::int32_t sum(int depth) {
        std::int32_t value = product(depth);
        for (;;) {
            const std::size_t column = at_;
            if (take("+"))
                value = add(column, operation::add, value, product(depth));
            else if (take("-"))
                value = add(column, operation::subtract, value, product(depth));
            else
                return value;
        }
    }

    std::int32_t product(int depth) {
        std::int32_t value = factor(depth);
        for (;;) {
            const std::size_t column = at_;
            if (take("*"))
                value = add(column, operation::multiply, value, factor(depth));
            else if (take("/"))
                value = add(column, operation::divide, value, factor(depth));
            else
                return value;
        }
    }

    std::int32_t factor(int depth) {
        const char c = peek();
        const std::size_t column = at_;
        if (depth == max_depth) fail(at_, fmt::format("nested more than {} deep", max_depth));
        if (take("+")) return factor(depth + 1);
        if (take("-")) return add(column, operation::negate, factor(depth + 1));
        if (take("(")) {
            const std::int32_t value = sum(depth + 1);
            want(")", "an operator or ')'");
            return value;
        }
        if (is_digit(c) || c == '.') return number();
        if (!is_letter(c)) expected("a tensor, a number or '('");
        const std::string_view word = name();
        if (const auto function = dsl::function_named(word)) return call(column, *function, depth);
        if (dsl::routine_named(word)) fail_in_expression(column, word);
        if (dsl::is_missing_function(word) && peek() == '(' && holds_access())
            fail(column, fmt::format("'{}' is no function; there are {}", word, dsl::all_functions()));
        const auto number = access(column, word);
        return add(column, operation::access, number);
    }

    std::int32_t call(std::size_t column, operation function, int depth) {
        want("(", "'(' and the function's argument");
        const std::int32_t a = sum(depth + 1);
        std::int32_t b = -1;
        if (lowering::arity(function) == 2) {
            want(",", "an operator, or ',' and the second argument");
            b = sum(depth + 1);
        }
        want(")", "an operator or ')'");
        return add(column, function, a, b);
    }
};

} // namespace

std::vector<text_statement> parse_text(std::string_view program) {
    const std::string line = dsl::on_one_line(program);
    std::vector<text_statement> statements;
    for (std::size_t begin = 0; begin < line.size();) {
        const std::size_t end = std::min(line.find(';', begin), line.size());
        std::string_view source = std::string_view(line).substr(begin, end - begin);
        begin = end + 1;
        source.remove_prefix(std::min(source.find_first_not_of(' '), source.size()));
        source = source.substr(0, source.find_last_not_of(' ') + 1);
        if (!source.empty())
            statements.push_back(parser(source, static_cast<int>(statements.size()) + 1).statement());
    }
    if (statements.empty()) throw error("no statement: write one like \"C(i,j) = A(i,k)*B(k,j)\"");
    return statements;
}

} // namespace ricci
