// tree: what the passes ask of a step's nodes.
#include "lowering/tree.hpp"

#include "lowering/gathers.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>

namespace ricci::lowering {

std::vector<node> subtree(const std::vector<node>& nodes, std::int32_t root) {
    std::vector<char> used(nodes.size(), 0);
    used[static_cast<std::size_t>(root)] = 1;
    for (auto n = root; n >= 0; --n) {
        if (!used[static_cast<std::size_t>(n)]) continue;
        const auto& here = nodes[static_cast<std::size_t>(n)];
        if (arity(here.kind) >= 1) used[static_cast<std::size_t>(here.a)] = 1;
        if (arity(here.kind) == 2) used[static_cast<std::size_t>(here.b)] = 1;
    }
    std::vector<node> out;
    std::vector<std::int32_t> number(nodes.size(), -1);
    for (std::size_t n = 0; n <= static_cast<std::size_t>(root); ++n) {
        if (!used[n]) continue;
        auto copy = nodes[n];
        if (arity(copy.kind) >= 1) copy.a = number[static_cast<std::size_t>(copy.a)];
        if (arity(copy.kind) == 2) copy.b = number[static_cast<std::size_t>(copy.b)];
        number[n] = static_cast<std::int32_t>(out.size());
        out.push_back(copy);
    }
    return out;
}

void prune(step& st) {
    std::vector<std::int32_t> operand_number(st.operands.size(), -1), sum_number(st.sums.size(), -1);
    std::vector<operand> operands{std::move(st.operands[0])};
    std::vector<std::vector<std::int32_t>> sums;
    for (auto& n : st.nodes) {
        if (n.kind == operation::access) {
            auto& number = operand_number[static_cast<std::size_t>(n.a)];
            if (number < 0) {
                number = static_cast<std::int32_t>(operands.size());
                operands.push_back(std::move(st.operands[static_cast<std::size_t>(n.a)]));
            }
            n.a = number;
        } else if (n.kind == operation::sum) {
            auto& number = sum_number[static_cast<std::size_t>(n.b)];
            if (number < 0) {
                number = static_cast<std::int32_t>(sums.size());
                sums.push_back(std::move(st.sums[static_cast<std::size_t>(n.b)]));
            }
            n.b = number;
        }
    }
    step kept;
    kept.operands = std::move(operands);
    take_tables(kept, st); // no node reads them: they are still there
    st.operands = std::move(kept.operands);
    st.sums = std::move(sums);
    drop_unused_axes(st);
}

step with_beta_in_tree(step st) {
    if (st.beta.empty()) return st;
    const auto last = [&] { return static_cast<std::int32_t>(st.nodes.size()) - 1; };
    const auto added = last(), first = added + 1;
    for (auto n : st.beta) {
        if (arity(n.kind) >= 1) n.a += first;
        if (arity(n.kind) == 2) n.b += first;
        st.nodes.push_back(n);
    }
    const auto beta = last();
    auto left = st.operands[0];
    left.in_place = true;
    st.operands.push_back(std::move(left));
    st.nodes.push_back({operation::access, static_cast<std::int32_t>(st.operands.size()) - 1});
    st.nodes.push_back({operation::multiply, beta, last()});
    st.nodes.push_back({operation::add, last(), added});
    st.op = assignment::assign;
    st.beta.clear();
    return st;
}

namespace {

bool has_access(const std::vector<node>& nodes, std::int32_t root) {
    const auto& n = nodes[static_cast<std::size_t>(root)];
    if (n.kind == operation::access) return true;
    return (arity(n.kind) >= 1 && has_access(nodes, n.a)) || (arity(n.kind) == 2 && has_access(nodes, n.b));
}

void collect_terms(const std::vector<node>& nodes, std::int32_t root, bool negative,
                   std::vector<signed_term>& terms) {
    const auto& here = nodes[static_cast<std::size_t>(root)];
    switch (here.kind) {
    case operation::add:
    case operation::subtract:
        collect_terms(nodes, here.a, negative, terms);
        collect_terms(nodes, here.b, negative != (here.kind == operation::subtract), terms);
        break;
    case operation::negate:
        collect_terms(nodes, here.a, !negative, terms);
        break;
    default:
        terms.push_back({root, negative});
    }
}

bool is_access(const std::vector<node>& nodes, std::int32_t root, std::int32_t& operand, bool& conjugated) {
    auto n = nodes[static_cast<std::size_t>(root)];
    conjugated = n.kind == operation::conjugate;
    if (conjugated) n = nodes[static_cast<std::size_t>(n.a)];
    operand = n.a;
    return n.kind == operation::access;
}

} // namespace

std::vector<signed_term> terms_of(const std::vector<node>& nodes, std::int32_t root, bool negative) {
    std::vector<signed_term> terms;
    collect_terms(nodes, root, negative, terms);
    return terms;
}

bool is_matrix_product(const std::vector<node>& nodes, std::int32_t root, matrix_product& out) {
    out = {};
    const auto at = [&](std::int32_t n) { return nodes[static_cast<std::size_t>(n)]; };
    while (true) {
        const auto n = at(root);
        if (n.kind == operation::negate) {
            out.negative = !out.negative;
            root = n.a;
        } else if (n.kind == operation::multiply && out.coefficient < 0 && out.sum < 0 && !has_access(nodes, n.a)) {
            out.coefficient = n.a;
            root = n.b;
        } else if (n.kind == operation::multiply && out.coefficient < 0 && out.sum < 0 && !has_access(nodes, n.b)) {
            out.coefficient = n.b;
            root = n.a;
        } else if (n.kind == operation::sum && out.sum < 0) {
            out.sum = n.b;
            root = n.a;
        } else {
            break;
        }
    }
    const auto n = at(root);
    if (is_access(nodes, root, out.x, out.x_conjugated)) return true;
    return n.kind == operation::multiply && is_access(nodes, n.a, out.x, out.x_conjugated) &&
           is_access(nodes, n.b, out.y, out.y_conjugated);
}

} // namespace ricci::lowering
