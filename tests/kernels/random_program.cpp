// random_program: programs of contractions and functions of a few elements' numbers, whose locals hand each other on.
#include "tests/kernels/random_program.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <random>

namespace ricci::tests {
namespace {

using lowering::scalar_type;

/// A tensor of the program: its indices but the element's, by letter.
struct value {
    std::string name, letters;
    bool is_complex = false;
};

class program_maker {
  public:
    explicit program_maker(std::uint64_t seed) : random_(seed) {
        using enum scalar_type;
        constexpr scalar_type computed[] = {f64, f32, f32, c128, c64, f16, bf16};
        type_ = computed[below(7)];
        mixture_ = static_cast<mixture>(below(3));
        if (mixture_ == mixture::narrow_operands) type_ = computed[below(5)];
        elements_ = 2 + below(40);
        element_first_ = below(16) == 0; // not fused
    }

    random_program make() {
        const auto count = 2 + below(5);
        values_.push_back(make_tensor(new_letters(1 + below(3)), false, operand_type()));
        for (std::int64_t n = 0; n + 1 < count; ++n) add_statement(true);
        add_statement(false);
        return std::move(out_);
    }

  private:
    std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random_); }

    /// Of what types a program's tensors are: one; narrower operands of statements that compute in one, which locals
    /// are of, mostly; any.
    enum class mixture : std::uint8_t { one, narrow_operands, any };

    scalar_type any_type(bool may_be_complex) {
        using enum scalar_type;
        constexpr scalar_type all[] = {f64, f32, f16, bf16, c128, c64};
        return all[below(may_be_complex ? 6 : 4)];
    }
    /// Of an operand that stands beside others, complex only where it may be.
    scalar_type operand_type(bool may_be_complex = true) {
        while (true) {
            const auto type = mixture_ == mixture::one || below(2) == 0 ? type_ : any_type(true);
            if (mixture_ == mixture::narrow_operands && lowering::promote(type, type_) != type_) continue;
            if (may_be_complex || !lowering::is_complex(type)) return type;
            if (mixture_ != mixture::any) return lowering::real_of(type);
        }
    }
    /// Of the left of a statement whose right is complex or not.
    scalar_type left_type(bool is_local) {
        auto type = is_local && below(8) != 0 ? type_ : operand_type();
        if (mixture_ == mixture::any && below(3) == 0) type = any_type(true);
        if (!has_complex_) return type;
        while (!lowering::is_complex(type)) type = any_type(true);
        return type;
    }

    std::string new_letters(std::int64_t count) {
        std::string out;
        while (static_cast<std::int64_t>(out.size()) < count) out += new_letter(out);
        return out;
    }
    char new_letter(std::string_view taken) {
        constexpr std::string_view all = "abcdfghijklm";
        while (true)
            if (const auto c = all[static_cast<std::size_t>(below(static_cast<std::int64_t>(all.size())))];
                taken.find(c) == taken.npos) {
                extents_.try_emplace(c, 1 + below(5));
                return c;
            }
    }

    void declare(const std::string& name, const std::string& letters, bool has_element, scalar_type type) {
        text_operand o;
        o.name = name, o.type = type;
        std::int64_t stride = 1;
        for (const char c : letters_of(letters, has_element)) {
            o.extents.push_back(c == 'e' ? elements_ : extents_.at(c));
            o.strides.push_back(stride);
            stride *= o.extents.back();
        }
        out_.operands.push_back(std::move(o));
    }

    std::string letters_of(const std::string& letters, bool has_element) const {
        if (!has_element) return letters;
        return element_first_ ? "e" + letters : letters + "e";
    }
    std::string access(const std::string& name, const std::string& letters, bool has_element = true) const {
        return fmt::format("{}({})", name, fmt::join(letters_of(letters, has_element), ","));
    }

    value make_tensor(const std::string& letters, bool is_local, scalar_type type) {
        value v{fmt::format("{}{}", is_local ? "T" : "X", number_++), letters, lowering::is_complex(type)};
        declare(v.name, letters, true, type);
        if (is_local) out_.locals.push_back(v.name);
        return v;
    }
    /// The type of a new operand of a statement, which may make the statement complex.
    scalar_type beside(bool may_be_complex) {
        const auto type = operand_type(may_be_complex);
        has_complex_ = has_complex_ || lowering::is_complex(type);
        return type;
    }
    std::string matrix(char row, char column, bool may_be_complex = true) {
        const auto name = fmt::format("M{}", number_++);
        const bool turned = below(2) == 0;
        const std::string letters = turned ? std::string{column, row} : std::string{row, column};
        declare(name, letters, false, beside(may_be_complex));
        return access(name, letters, false);
    }

    const value& any_value() { return values_[static_cast<std::size_t>(below(static_cast<std::int64_t>(values_.size())))]; }
    /// The last one, mostly.
    value source() { return below(4) == 0 ? any_value() : values_.back(); }

    void add_statement(bool to_local) {
        const auto x = source();
        has_complex_ = x.is_complex;
        std::string letters = x.letters, right;
        switch (below(7)) {
        case 0:
        case 1: right = contraction(x, letters); break;
        case 2: right = with_an_elements_own(x, letters); break;
        case 3: right = fmt::format("{}*{}", access(x.name, x.letters), own(x.letters)); break;
        case 4: right = function(x); break;
        case 6: right = window(x, letters); break;
        default: right = sum(x); break;
        }
        std::shuffle(letters.begin(), letters.end(), random_);
        if (!to_local && below(2) == 0) return scatter(letters, right);
        const bool is_local = to_local && below(8) != 0;
        const auto out = make_tensor(letters, is_local, left_type(is_local));
        out_.statements.push_back(fmt::format("{} = {}", access(out.name, letters), right));
        values_.push_back(out);
        if (below(4) == 0) add_to(out);
    }

    std::string contraction(const value& x, std::string& letters) {
        const auto k = x.letters[static_cast<std::size_t>(below(static_cast<std::int64_t>(x.letters.size())))];
        const auto r = new_letter(x.letters);
        std::replace(letters.begin(), letters.end(), k, r);
        const auto m = matrix(r, k);
        const auto conj = lowering::is_complex(out_.operands.back().type) && below(3) == 0;
        const auto a = access(x.name, x.letters), factor = conj ? fmt::format("conj({})", m) : m;
        return below(2) == 0 ? fmt::format("{}*{}", factor, a) : fmt::format("2*{}*{}", a, factor);
    }
    std::string with_an_elements_own(const value& x, std::string& letters) {
        const auto k = x.letters[static_cast<std::size_t>(below(static_cast<std::int64_t>(x.letters.size())))];
        const auto r = new_letter(x.letters);
        std::replace(letters.begin(), letters.end(), k, r);
        return fmt::format("{}*{}", access(x.name, x.letters), own(std::string{k, r}));
    }
    /// A sum over neighbors along an index.
    std::string window(const value& x, std::string& letters) {
        const auto c = x.letters[static_cast<std::size_t>(below(static_cast<std::int64_t>(x.letters.size())))];
        const auto i = new_letter(x.letters), k = new_letter(x.letters + i);
        if (extents_.at(i) + extents_.at(k) - 1 > extents_.at(c)) return function(x);
        std::replace(letters.begin(), letters.end(), c, i);
        auto a = access(x.name, x.letters);
        a.replace(a.find(c, x.name.size()), 1, fmt::format("{}+{}", i, k));
        const auto weights = fmt::format("M{}", number_++);
        declare(weights, std::string{k}, false, beside(true));
        return fmt::format("{}*{}", access(weights, std::string{k}, false), a);
    }
    std::string own(const std::string& letters, bool may_be_complex = true) {
        const auto v = make_tensor(letters, false, beside(may_be_complex));
        return access(v.name, v.letters);
    }
    std::string function(const value& x) {
        const auto a = access(x.name, x.letters);
        if (x.is_complex) return fmt::format("conj({}) - {}", a, own(x.letters));
        return below(2) == 0 ? fmt::format("relu({} - {})", a, own(x.letters, false))
                             : fmt::format("max(abs({}), 1) - 2", a);
    }
    std::string sum(const value& x) {
        return fmt::format("{} {} 3*{}", access(x.name, x.letters), below(2) == 0 ? '+' : '-', own(x.letters));
    }
    /// Adds what was computed to elements that a table of some of its indices gives, of few or of many.
    void scatter(const std::string& letters, const std::string& right) {
        const auto in_table =
            letters.substr(0, 1 + static_cast<std::size_t>(below(static_cast<std::int64_t>(letters.size()))));
        const auto others = letters.substr(in_table.size());
        const auto table = fmt::format("L{}", number_++);
        declare(table, in_table, true, below(2) == 0 ? scalar_type::i32 : scalar_type::i64);
        const auto result = fmt::format("X{}", number_++);
        declare(result, others, false, left_type(false));
        auto& o = out_.operands.back();
        o.strides.push_back(o.extents.empty() ? 1 : o.strides.back() * o.extents.back());
        o.extents.push_back(1 + below(60));
        out_.statements.push_back(
            fmt::format("{}({}{}{}({})) {}= {}", result, fmt::join(others, ","), others.empty() ? "" : ",",
                        below(2) == 0 ? table : fmt::format("atomic({})", table),
                        fmt::join(letters_of(in_table, true), ","), below(2) == 0 ? '+' : '-', right));
    }
    /// Adds a contraction to what was just written.
    void add_to(const value& out) {
        const auto k = out.letters[0];
        const auto r = new_letter(out.letters);
        std::string letters = out.letters;
        letters[0] = r;
        const auto factor = matrix(k, r, out.is_complex), mine = own(letters, out.is_complex);
        out_.statements.push_back(
            fmt::format("{} {}= {}*{}", access(out.name, out.letters), below(2) == 0 ? '+' : '-', factor, mine));
    }

    std::mt19937_64 random_;
    scalar_type type_{}; ///< that most is computed in
    mixture mixture_{};
    bool has_complex_ = false; ///< the statement at hand: its left must be
    std::int64_t elements_ = 1;
    bool element_first_ = false;
    int number_ = 0;
    std::map<char, std::int64_t> extents_;
    std::vector<value> values_;
    random_program out_;
};

} // namespace

std::string random_program::text() const {
    std::string out;
    for (const auto& s : statements) out += s + "\n";
    for (const auto& o : operands)
        out += fmt::format("{}={}[{}]{} ", o.name, lowering::name_of(o.type), fmt::join(o.extents, ","),
                           std::find(locals.begin(), locals.end(), o.name) != locals.end() ? " local" : "");
    return out;
}

random_program make_random_program(std::uint64_t seed) { return program_maker(seed).make(); }

} // namespace ricci::tests
