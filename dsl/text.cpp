// text: the parser of the notation, by recursive descent.
#include "dsl/text.hpp"

#include "dsl/text_call.hpp"
#include "dsl/text_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace ricci {

namespace {

using dsl::is_blank;
using dsl::is_digit;
using dsl::is_letter;
using lowering::operation;

// Bounds on what one statement may hold, so that neither this parser nor a pass that walks the tree runs out of
// stack.
constexpr int max_depth = 100;
constexpr std::size_t max_nodes = 1000;

constexpr std::pair<std::string_view, operation> functions[] = {
    {"conj", operation::conjugate}, {"relu", operation::relu}, {"exp", operation::exp}, {"sqrt", operation::sqrt},
    {"abs", operation::abs},        {"min", operation::min},   {"max", operation::max}};

constexpr std::string_view padded_keyword = "padded", distinct_keyword = "distinct", atomic_keyword = "atomic";

/// Functions that the language lacks: a name of these before an access is a mistake, any other an index table's user.
constexpr std::string_view missing_functions[] = {
    "acos", "acosh", "asin",  "asinh", "atan",  "atan2", "atanh", "cbrt",  "ceil",  "cos",
    "cosh", "erf",   "erfc",  "exp2",  "expm1", "floor", "log",   "log10", "log1p", "log2",
    "mod",  "pow",   "round", "sign",  "sin",   "sinh",  "sum",   "tan",   "tanh",  "trunc"};

std::optional<operation> function_named(std::string_view name) {
    for (const auto& [spelling, kind] : functions)
        if (spelling == name) return kind;
    return std::nullopt;
}

class parser : dsl::text_scanner {
  public:
    parser(std::string_view source, int number) : text_scanner(source, number) {
        result_.source = source;
        result_.number = number;
    }

    text_statement statement() {
        if (!called(0)) {
            left();
            std::size_t results = 1;
            for (; take(","); ++results) left();
            if (take("+="))
                out().op = lowering::assignment::add;
            else if (take("-="))
                out().op = lowering::assignment::subtract;
            else if (!take("="))
                expected("'=', '+=' or '-='");
            const std::size_t column = at_;
            if (!called(results)) {
                if (results > 1)
                    fail(column, "only a factorization or a solve has several results: piv(k,e), info(e) = "
                                 "lu(A(i,j,e), i, j)");
                sum(0);
            }
        }
        if (peek() != '\0') expected("an operator or the end of the statement");
        // Names are views into the source until the whole statement is known to be right.
        for (auto& a : out().accesses) a.name = lowering::intern(a.name);
        for (auto& l : out().labels) l.name = lowering::intern(l.name);
        return std::move(result_);
    }

  private:
    lowering::statement& out() { return result_.unbound; }

    // -- calls

    /// A call of a routine that gives so many results, if one stands here.
    bool called(std::size_t results) {
        skip_blanks();
        const std::size_t column = at_;
        const auto what = is_letter(peek()) ? dsl::routine_named(name()) : std::nullopt;
        if (!what) {
            at_ = column;
            return false;
        }
        if (out().op != lowering::assignment::assign)
            fail(column, fmt::format("what {} gives is assigned with =", lowering::name_of(*what)));
        auto& call = out().call;
        call.what = *what;
        want("(", "'(' and the matrix");
        skip_blanks();
        const std::size_t matrix = at_;
        call.conjugated = name() == "conj" && take("(");
        if (!call.conjugated) at_ = matrix;
        operand("the matrix: a tensor");
        if (call.conjugated) want(")", "')'");
        want(",", "',' and the index of the matrix's rows");
        call.row = bare_index();
        want(",", "',' and the index of the matrix's columns");
        call.column = bare_index();
        std::vector<lowering::call_option> said;
        while (take(",")) {
            skip_blanks();
            const std::size_t option = at_;
            if (!is_letter(peek())) expected("a tensor or an option");
            const auto word = name();
            if (const auto o = dsl::option_named(*what, word)) {
                for (const auto other : said)
                    if (lowering::exclude_each_other(*o, other))
                        fail(option, fmt::format("'{}' stands behind '{}': a call has one of them, once", word,
                                                 lowering::name_of(other)));
                said.push_back(*o);
                lowering::set_option(call, *o);
                continue;
            }
            if (peek() != '(') {
                const auto options = dsl::options_of(*what);
                fail(option, fmt::format("'{}' is no option of {}{}; a tensor stands with its indices", word,
                                         lowering::name_of(*what), options.empty() ? "" : ": there are " + options));
            }
            at_ = option;
            operand("a tensor or an option");
        }
        want(")", "',' or ')'");
        const auto is_triangle = [](auto o) { return lowering::exclude_each_other(o, lowering::call_option::lower); };
        if (*what == lowering::routine::triangular_solve && std::none_of(said.begin(), said.end(), is_triangle))
            fail(column, "triangular_solve wants to know which triangle is meant: lower or upper");
        dsl::arrange_call(result_, results, column);
        return true;
    }

    void operand(const char* what) {
        if (!is_letter(peek())) expected(what);
        const std::size_t column = at_;
        const std::string_view word = name();
        if (!is_text_name(word))
            fail(column, fmt::format("'{}' is no tensor: what a call takes are tensors with their indices", word));
        access(column, word);
    }

    std::int32_t bare_index() {
        if (!is_letter(peek())) expected("an index");
        return index();
    }

    void number() {
        const std::size_t begin = at_;
        out().scalars.push_back(scalar());
        add(begin, operation::scalar, static_cast<std::int32_t>(out().scalars.size()) - 1);
    }

    // -- accesses

    void left() {
        if (!is_letter(peek())) expected("the name of a tensor");
        const std::size_t column = at_;
        const std::string_view word = name();
        if (function_named(word)) fail(column, fmt::format("'{}' is a function; it cannot be assigned to", word));
        if (dsl::routine_named(word)) fail(column, fmt::format("'{}' is a routine; it cannot be assigned to", word));
        access(column, word);
    }

    /// An access that stands in a position, with its own positions; they are appended behind the access that it
    /// stands in.
    struct table {
        lowering::access access;
        std::vector<lowering::position> positions;
        std::int32_t gathered = 0; ///< the position
        std::size_t column = 0;
    };

    /// The number of the access.
    std::int32_t access(std::size_t column, std::string_view word) {
        if (out().accesses.size() > lowering::max_operands)
            fail(column, fmt::format("more than {} accesses on the right side", lowering::max_operands));
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

    std::int32_t append(const lowering::access& a, std::size_t column) {
        out().accesses.push_back(a);
        result_.access_columns.push_back(column);
        return static_cast<std::int32_t>(out().accesses.size()) - 1;
    }

    void positions(std::int32_t first) {
        do position(first);
        while (take(","));
        want(")", "',' or ')'");
    }

    /// `p(e)`, `distinct(p)(e)` or `atomic(p)(e)` in a position; false, with nothing taken, where it is none.
    bool gathered_position() {
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
        if (peek() != ',' && peek() != ')')
            expected("',' or ')': the entry of an index table is a position by itself");
        return true;
    }

    /// Whether between the parenthesis here and its partner there is more than the integers of an index's range.
    bool holds_letter() const {
        const auto end = source_.find(')', at_);
        return std::any_of(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                           source_.begin() + static_cast<std::ptrdiff_t>(std::min(end, source_.size())), is_letter);
    }

    void position(std::int32_t first_position) {
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
        const bool comes_out_plain = static_cast<std::int32_t>(out().terms.size()) == p.first_term + 1 &&
                                     p.offset == 0 && out().terms.back().coefficient == 1;
        if (comes_out_plain && !plain) out().terms.push_back({out().terms.back().label, 0});
        p.term_count = static_cast<std::int32_t>(out().terms.size()) - p.first_term;
        out().positions.push_back(p);
    }

    /// One term of a position, added to what the position has; says whether it was an index and nothing else.
    bool term(lowering::position& p, bool negative) {
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

    [[noreturn]] void overflow(std::size_t column) const { fail(column, "the position does not fit in 64 bits"); }

    /// An index and, where it stands, its range; the label's number.
    std::int32_t index() {
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

    // -- expressions; each returns its node

    std::int32_t add(std::size_t column, operation kind, std::int32_t a, std::int32_t b = -1) {
        if (out().nodes.size() == max_nodes)
            fail(column, fmt::format("the right side is too long: more than {} operations and values", max_nodes));
        return out().add(kind, a, b);
    }
    std::int32_t last() { return static_cast<std::int32_t>(out().nodes.size()) - 1; }

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
        if (is_digit(c) || c == '.') {
            number();
            return last();
        }
        if (!is_letter(c)) expected("a tensor, a number or '('");
        const std::string_view word = name();
        if (const auto function = function_named(word)) return call(column, *function, depth);
        if (dsl::routine_named(word))
            fail(column, fmt::format("{} stands alone right of =: what it gives is in no expression", word));
        const bool is_missing = std::find(std::begin(missing_functions), std::end(missing_functions), word) !=
                                std::end(missing_functions);
        if (is_missing && peek() == '(' && holds_access()) fail_as_function(column, word);
        const auto number = access(column, word);
        return add(column, operation::access, number);
    }

    /// Whether between the parenthesis here and its partner a name has parentheses of its own that hold no integers,
    /// as an index's range would.
    bool holds_access() const {
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

    [[noreturn]] void fail_as_function(std::size_t column, std::string_view word) const {
        std::string known;
        for (const auto& [spelling, kind] : functions)
            known += fmt::format("{}{}", known.empty() ? "" : ", ", spelling);
        fail(column, fmt::format("'{}' is no function; there are {}", word, known));
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

    text_statement result_;
    std::vector<table> tables_; ///< of the access that is being read
    bool in_table_ = false;
};

} // namespace

bool is_text_name(std::string_view name) {
    return !name.empty() && is_letter(name[0]) && name != padded_keyword && name != distinct_keyword &&
           name != atomic_keyword && !function_named(name) && !dsl::routine_named(name) &&
           std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

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
