// captured: the statements that a callable gives to the runtime, without running them.
#pragma once

#include "runtime/run.hpp"

#include <stdexcept>
#include <string>
#include <vector>

template <class Body>
std::vector<ricci::lowering::statement> captured_all(Body&& body) {
    std::vector<ricci::lowering::statement> out;
    const ricci::runtime::collecting scope([&](const ricci::lowering::statement& s) { out.push_back(s); });
    body();
    return out;
}

template <class Body>
ricci::lowering::statement captured(Body&& body) {
    const auto all = captured_all(body);
    if (all.size() != 1) throw std::logic_error(std::to_string(all.size()) + " statements, not one");
    return all[0];
}

/// "2*t + 1*u + 7", the coefficients as captured.
inline std::string affine_text(const ricci::lowering::statement& s, const ricci::lowering::position& p) {
    std::string text;
    for (int t = 0; t < p.term_count; ++t) {
        const auto& term = s.terms[static_cast<std::size_t>(p.first_term + t)];
        text += std::to_string(term.coefficient) + "*" +
                std::string(s.labels[static_cast<std::size_t>(term.label)].name) + " + ";
    }
    return text + std::to_string(p.offset);
}

/// The positions of access n, one string each.
inline std::vector<std::string> positions_of(const ricci::lowering::statement& s, std::size_t n) {
    std::vector<std::string> out;
    const auto& a = s.accesses.at(n);
    for (int p = 0; p < a.position_count; ++p)
        out.push_back(affine_text(s, s.positions.at(static_cast<std::size_t>(a.first_position + p))));
    return out;
}

/// The right side in reverse Polish notation: "a1 a2 * s0 +".
inline std::string right_side(const ricci::lowering::statement& s) {
    static constexpr const char* names[] = {"a",    "s",    "+",   "-",    "*",   "/",   "negate",
                                            "conj", "relu", "exp", "sqrt", "abs", "min", "max"};
    std::vector<std::string> text;
    for (const auto& n : s.nodes) {
        const std::string name = names[static_cast<std::size_t>(n.kind)];
        const int children = arity(n.kind);
        if (children == 0) text.push_back(name + std::to_string(n.a));
        if (children == 1) text.push_back(text.at(static_cast<std::size_t>(n.a)) + " " + name);
        if (children == 2)
            text.push_back(text.at(static_cast<std::size_t>(n.a)) + " " + text.at(static_cast<std::size_t>(n.b)) +
                           " " + name);
    }
    return text.back();
}
