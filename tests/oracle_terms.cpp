// oracle_terms: distributes products, then places each summation by the language's rule.
#include "tests/oracle_terms.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace ricci::tests {
namespace {

using namespace lowering;

int count_accesses(const statement& s, std::int32_t n) {
    const node& at = s.nodes[static_cast<std::size_t>(n)];
    if (at.kind == operation::access) return 1;
    if (at.kind == operation::scalar) return 0;
    return count_accesses(s, at.a) + (arity(at.kind) == 2 ? count_accesses(s, at.b) : 0);
}

void add_labels(const term_sum& sum, std::set<std::int32_t>& labels) {
    for (const term& t : sum)
        for (const factor& f : t.factors) labels.insert(f.labels.begin(), f.labels.end());
}

term_sum expand(const statement& s, std::int32_t n, bool conjugated);

/// A function is one factor; a quotient is a product with the reciprocal of its divisor.
term_sum function(const statement& s, operation kind, const std::vector<std::int32_t>& children, bool conjugated) {
    factor f;
    f.kind = kind;
    f.accesses = 0;
    for (const std::int32_t child : children) {
        f.arguments.push_back(expand(s, child, conjugated));
        f.accesses += count_accesses(s, child);
        add_labels(f.arguments.back(), f.labels);
    }
    term t;
    t.factors.push_back(std::move(f));
    return {t};
}

term_sum product(const term_sum& x, const term_sum& y) {
    term_sum all;
    for (const term& a : x)
        for (const term& b : y) {
            term t = a;
            t.sign *= b.sign;
            t.scalars.insert(t.scalars.end(), b.scalars.begin(), b.scalars.end());
            t.factors.insert(t.factors.end(), b.factors.begin(), b.factors.end());
            t.distributed = a.distributed || b.distributed || x.size() > 1 || y.size() > 1;
            all.push_back(std::move(t));
        }
    return all;
}

term_sum joined(term_sum x, term_sum y, double sign) {
    for (term& t : y) t.sign *= sign;
    x.insert(x.end(), y.begin(), y.end());
    return x;
}

/// conj goes to the leaves: exp, sqrt and the reciprocal commute with it, the other functions are of real arguments.
term_sum expand(const statement& s, std::int32_t n, bool conjugated) {
    using enum operation;
    const node& at = s.nodes.at(static_cast<std::size_t>(n));
    switch (at.kind) {
    case access: {
        term t;
        t.factors.push_back({access, at.a, conjugated, {}, labels_of(s, at.a), 1});
        return {t};
    }
    case scalar: {
        term t;
        t.scalars.push_back(s.scalars.at(static_cast<std::size_t>(at.a)));
        if (conjugated) t.scalars[0].imaginary = -t.scalars[0].imaginary;
        return {t};
    }
    case add:
        return joined(expand(s, at.a, conjugated), expand(s, at.b, conjugated), 1);
    case subtract:
        return joined(expand(s, at.a, conjugated), expand(s, at.b, conjugated), -1);
    case negate:
        return joined({}, expand(s, at.a, conjugated), -1);
    case multiply:
        return product(expand(s, at.a, conjugated), expand(s, at.b, conjugated));
    case divide:
        return product(expand(s, at.a, conjugated), function(s, reciprocal, {at.b}, conjugated));
    case conjugate:
        return expand(s, at.a, !conjugated);
    case min:
    case max:
        return function(s, at.kind, {at.a, at.b}, conjugated);
    case relu:
    case exp:
    case sqrt:
    case abs:
    case reciprocal:
        return function(s, at.kind, {at.a}, conjugated);
    case sum:
        break;
    }
    throw std::logic_error("oracle: a node that only lowering makes");
}

/// An index that is not bound yet is summed over this product if two of its factors hold it, or one that is an access
/// or counts as one; if its only factor is a function of several accesses, the summation is inside, in each inner
/// term.
void place_sums(term_sum& sum, const std::set<std::int32_t>& bound) {
    for (term& t : sum) {
        std::map<std::int32_t, int> holders;
        for (const factor& f : t.factors)
            for (const std::int32_t label : f.labels) holders[label] += f.accesses > 1 ? 1 : 2;
        std::set<std::int32_t> inside = bound;
        for (const auto& [label, weight] : holders)
            if (weight >= 2 && inside.insert(label).second) t.summed.push_back(label);
        for (factor& f : t.factors)
            for (term_sum& argument : f.arguments) place_sums(argument, inside);
    }
}

} // namespace

std::set<std::int32_t> labels_of(const statement& s, std::int32_t number) {
    std::set<std::int32_t> labels;
    const access& a = s.accesses.at(static_cast<std::size_t>(number));
    for (std::int32_t p = a.first_position; p < a.first_position + a.position_count; ++p) {
        const position& at = s.positions.at(static_cast<std::size_t>(p));
        for (std::int32_t t = at.first_term; t < at.first_term + at.term_count; ++t)
            labels.insert(s.terms.at(static_cast<std::size_t>(t)).label);
        if (at.is_gathered()) labels.merge(labels_of(s, at.table));
    }
    return labels;
}

ranges ranges_of(const statement& s) {
    std::vector<std::int64_t> begin(s.labels.size(), 0), end(s.labels.size(), no_range);
    for (const access& a : s.accesses)
        for (std::int32_t p = a.first_position; p < a.first_position + a.position_count; ++p) {
            const position& q = s.positions.at(static_cast<std::size_t>(p));
            if (q.term_count != 1 || q.offset != 0) continue;
            const affine_term& t = s.terms.at(static_cast<std::size_t>(q.first_term));
            const auto label = static_cast<std::size_t>(t.label);
            if (t.coefficient != 1 || s.labels.at(label).has_range()) continue;
            if (end[label] != no_range && end[label] != q.extent) throw std::logic_error("oracle: extents disagree");
            end[label] = q.extent;
        }
    for (std::size_t l = 0; l < s.labels.size(); ++l)
        if (s.labels[l].has_range()) begin[l] = s.labels[l].begin, end[l] = s.labels[l].end;
    for (std::size_t n = 0; n < s.accesses.size(); ++n)
        for (const std::int32_t l : labels_of(s, static_cast<std::int32_t>(n)))
            if (end[static_cast<std::size_t>(l)] == no_range)
                throw std::logic_error("oracle: an index that nothing bounds");
    return {begin, end};
}

term_sum terms_of(const statement& s, const std::set<std::int32_t>& left) {
    if (s.nodes.empty()) throw std::logic_error("oracle: a statement without a right side");
    term_sum sum = expand(s, static_cast<std::int32_t>(s.nodes.size()) - 1, false);
    place_sums(sum, left);
    return sum;
}

} // namespace ricci::tests
