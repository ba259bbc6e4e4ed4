// print_tree: a tree of operations as text, of either IR.
#pragma once

#include "lowering/statement.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ricci::lowering {

inline std::string_view function_name(operation kind) {
    using enum operation;
    switch (kind) {
    case conjugate:
        return "conj";
    case relu:
        return "relu";
    case exp:
        return "exp";
    case sqrt:
        return "sqrt";
    case abs:
        return "abs";
    case min:
        return "min";
    case max:
        return "max";
    case reciprocal:
        return "reciprocal";
    default:
        return "";
    }
}

/// Prints a tree of nodes; what an access, a scalar and a list of summed axes look like is the caller's.
template <class Access, class Scalar, class Sum>
class tree_printer {
  public:
    tree_printer(const std::vector<node>& nodes, Access access, Scalar scalar, Sum sum)
        : nodes_(nodes), access_(access), scalar_(scalar), sum_(sum) {}

    std::string print(std::int32_t at, int outer = 0) const {
        using enum operation;
        const node& n = nodes_[static_cast<std::size_t>(at)];
        switch (n.kind) {
        case access:
            return access_(n.a);
        case scalar:
            return scalar_(n.a);
        case add:
            return infix(n, " + ", 1, 1, outer);
        case subtract:
            return infix(n, " - ", 1, 2, outer);
        case multiply:
            return infix(n, "*", 2, 2, outer);
        case divide:
            return infix(n, "/", 2, 3, outer);
        case negate:
            return wrap(fmt::format("-{}", print(n.a, 3)), 1, outer);
        case sum:
            return fmt::format("sum{{{}}}({})", sum_(n.b), print(n.a));
        default:
            if (arity(n.kind) == 2) return std::string(function_name(n.kind)) + '(' + infix(n, ", ", 0, 0, 0) + ')';
            return fmt::format("{}({})", function_name(n.kind), print(n.a));
        }
    }

  private:
    std::string infix(const node& n, std::string_view sign, int level, int right_level, int outer) const {
        auto text = print(n.a, level); // left first: a range is shown where its index first stands
        text += sign;
        text += print(n.b, right_level);
        return wrap(std::move(text), level, outer);
    }
    static std::string wrap(std::string text, int inner, int outer) {
        return inner < outer ? fmt::format("({})", text) : text;
    }
    const std::vector<node>& nodes_;
    Access access_;
    Scalar scalar_;
    Sum sum_;
};

inline std::string_view sign_of(assignment op) {
    return op == assignment::assign ? "=" : op == assignment::add ? "+=" : "-=";
}

inline std::string print_scalar(const scalar& x) {
    return x.complex ? fmt::format("({}{:+}i)", x.real, x.imaginary) : fmt::format("{}", x.real);
}

} // namespace ricci::lowering
