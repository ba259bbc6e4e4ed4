// print_statement: statements as their users wrote them.
#include "lowering/print.hpp"
#include "lowering/print_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <tuple>

namespace ricci::lowering {
namespace {

/// Prints accesses, each label's range where it first stands.
class access_printer {
  public:
    explicit access_printer(const statement& s) : s_(s), names_(operand_names(s)), shown_(s.labels.size(), false) {}

    std::string print(std::size_t number) {
        const auto& a = s_.accesses[number];
        std::vector<std::string> parts;
        for (int p = 0; p < a.position_count; ++p) parts.push_back(print(position_of(s_, a, p)));
        const auto text = fmt::format("{}({})", names_[number], fmt::join(parts, ", "));
        return a.padded ? fmt::format("padded({})({})", names_[number], fmt::join(parts, ", ")) : text;
    }

    std::string print(const position& p) {
        if (p.is_gathered()) {
            const auto& table = s_.accesses[static_cast<std::size_t>(p.table)];
            if (table.type == scalar_type::address)
                return print(s_.positions[static_cast<std::size_t>(table.first_position)]);
            const auto text = print(static_cast<std::size_t>(p.table));
            const auto name = names_[static_cast<std::size_t>(p.table)].size();
            if (!p.distinct && !p.atomic) return text;
            return fmt::format("{}({}){}", p.distinct ? "distinct" : "atomic", text.substr(0, name),
                               text.substr(name));
        }
        std::string text;
        bool affine = false;
        for (int t = 0; t < p.term_count; ++t) {
            const auto& term = s_.terms[static_cast<std::size_t>(p.first_term + t)];
            const auto c = term.coefficient;
            if (c == 0 && t > 0 && s_.terms[static_cast<std::size_t>(p.first_term)].label == term.label) {
                affine = true; // the mark of an affine position that came out as a plain index
                continue;
            }
            if (!text.empty())
                text += c < 0 ? " - " : " + ";
            else if (c < 0)
                text += "-";
            if (c != 1 && c != -1)
                text += fmt::format("{}*", c < 0 ? 0 - static_cast<std::uint64_t>(c) : static_cast<std::uint64_t>(c));
            text += print_label(static_cast<std::size_t>(term.label));
        }
        if (text.empty()) return fmt::format("{}", p.offset);
        if (p.offset != 0 || affine)
            text += fmt::format(" {} {}", p.offset < 0 ? '-' : '+',
                                p.offset < 0 ? 0 - static_cast<std::uint64_t>(p.offset)
                                             : static_cast<std::uint64_t>(p.offset));
        return text;
    }

  private:
    std::string print_label(std::size_t number) {
        const auto& l = s_.labels[number];
        if (!l.has_range() || shown_[number]) return std::string(l.name);
        shown_[number] = true;
        return fmt::format("{}({}, {})", l.name, l.begin, l.end);
    }

    const statement& s_;
    std::vector<std::string> names_;
    std::vector<bool> shown_;
};

/// A call as the user wrote it: in C++ what it gives into tensors stands among the arguments, in a text left of =.
std::string print_call(const statement& s, access_printer& accesses) {
    using enum matrix_role;
    const auto& c = s.call;
    const auto label = [&](std::int32_t l) {
        return l < 0 ? std::string_view("?") : s.labels[static_cast<std::size_t>(l)].name;
    };
    const bool is_text = !s.accesses[0].name.empty();
    std::string results, arguments;
    const auto add = [&](matrix_role r, std::string& to) {
        if (!c.is_said(r)) return;
        if (!to.empty()) to += ", ";
        to += accesses.print(static_cast<std::size_t>(c.of(r)));
    };
    if (is_text) { // first, since a range is shown where its index first stands
        if (writes_role(c, vector)) add(vector, results);
        for (const auto r : {log_abs, sign, info}) add(r, results);
    }
    const auto of = accesses.print(0);
    if (!is_text || !writes_role(c, vector)) add(vector, arguments);
    for (const auto r : {solution, given}) add(r, arguments);
    if (!is_text)
        for (const auto r : {log_abs, sign, info}) add(r, arguments);
    auto text = fmt::format("{}{}{}({}, {}, {}", results, results.empty() ? "" : " = ", name_of(c.what),
                            c.conjugated ? fmt::format("conj({})", of) : of, label(c.row), label(c.column));
    if (!arguments.empty()) text += ", " + arguments;
    for (const auto& [flag, name] :
         {std::pair(c.unpivoted, "unpivoted"), std::pair(c.positive, "positive_definite"),
          std::pair(c.what == routine::triangular_solve && !c.upper, "lower"), std::pair(c.upper, "upper"),
          std::pair(c.unit, "unit_diagonal"), std::pair(c.adjoint, "adjoint")})
        if (flag) text += fmt::format(", {}", name);
    return text + ')';
}

} // namespace

std::vector<std::string> operand_names(const statement& s) {
    // The same memory under another type, shape or strides is another operand.
    using identity = std::tuple<const void*, std::int32_t, scalar_type, std::vector<std::int64_t>>;
    std::map<identity, std::string> letters;
    std::vector<std::string> names;
    for (const auto& a : s.accesses) {
        if (!a.name.empty()) {
            names.emplace_back(a.name);
            continue;
        }
        if (a.type == scalar_type::address) {
            names.emplace_back(); // named after what it gives the addresses of
            continue;
        }
        const auto next = std::string(1, static_cast<char>('A' + letters.size() % 26));
        std::vector<std::int64_t> shape;
        for (int p = 0; p < a.position_count; ++p) {
            const auto& position = position_of(s, a, p);
            shape.push_back(position.extent), shape.push_back(position.stride);
        }
        names.push_back(letters.try_emplace({a.data, a.local, a.type, std::move(shape)}, next).first->second);
    }
    for (std::size_t n = 0; n < names.size(); ++n)
        if (const auto* p = position_of_addresses(s, s.accesses[n]))
            names[static_cast<std::size_t>(p->table)] = names[n] + "'s addresses";
    return names;
}

std::string to_string(const statement& s, const access& a) {
    return access_printer(s).print(static_cast<std::size_t>(&a - s.accesses.data()));
}

std::string to_string(const statement& s, const position& p) { return access_printer(s).print(p); }

std::string to_string(const statement& s) {
    if (s.accesses.empty()) return "(empty statement)";
    access_printer accesses(s);
    if (s.is_call()) return print_call(s, accesses);
    auto text = fmt::format("{} {} ", accesses.print(0), sign_of(s.op));
    if (s.nodes.empty()) return text;
    tree_printer printer(
        s.nodes, [&](std::int32_t a) { return accesses.print(static_cast<std::size_t>(a)); },
        [&](std::int32_t a) { return print_scalar(s.scalars[static_cast<std::size_t>(a)]); },
        [](std::int32_t) { return std::string(); });
    return text + printer.print(static_cast<std::int32_t>(s.nodes.size()) - 1);
}

} // namespace ricci::lowering
