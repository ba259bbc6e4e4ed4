// scope_sums: says where each summation stands.
#include "lowering/scope_sums.hpp"

#include "lowering/refuse.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

/// A leaf or a function, to be multiplied: a node of the source tree, possibly conjugated or inverted.
struct factor {
    std::int32_t node;
    bool conjugated;
    bool inverted;
};

/// One summand: a product of factors.
struct term {
    bool negative = false;
    std::vector<factor> factors;
};

constexpr std::size_t most_terms = 1024;

class scoper {
  public:
    scoper(step& st, const statement& s) : step_(st), s_(s), source_(std::move(st.nodes)) {
        st.nodes.clear();
        for (const auto& n : source_) {
            info i;
            i.axes.assign(st.axes.size(), 0);
            if (n.kind == operation::access) {
                i.accesses = 1;
                i.axes = st.operands[static_cast<std::size_t>(n.a)].present;
            }
            for (int c = 0; c < arity(n.kind); ++c) {
                const auto& child = about_[static_cast<std::size_t>(c == 0 ? n.a : n.b)];
                i.accesses += child.accesses;
                for (std::size_t a = 0; a < i.axes.size(); ++a) i.axes[a] |= child.axes[a];
            }
            about_.push_back(std::move(i));
        }
    }

    void run() { scope(static_cast<std::int32_t>(source_.size()) - 1, step_.operands[0].present); }

  private:
    using axis_set = std::vector<char>;
    struct info {
        int accesses = 0;
        axis_set axes;
    };

    const node& at(std::int32_t n) const { return source_[static_cast<std::size_t>(n)]; }
    const info& about(std::int32_t n) const { return about_[static_cast<std::size_t>(n)]; }

    bool sums_something(std::int32_t n, const axis_set& bound) const {
        for (std::size_t a = 0; a < bound.size(); ++a)
            if (about(n).axes[a] && !bound[a]) return true;
        return false;
    }

    /// The source tree at `n` as a sum over all axes that are not bound; returns the new node.
    std::int32_t scope(std::int32_t n, const axis_set& bound) {
        if (!sums_something(n, bound)) return copy(n);
        std::int32_t result = -1;
        for (const auto& t : expand(n, false)) {
            const auto product = scope(t, bound);
            if (result < 0) result = t.negative ? emit(operation::negate, product) : product;
            else result = emit(t.negative ? operation::subtract : operation::add, result, product);
        }
        return result;
    }

    std::int32_t scope(const term& t, const axis_set& bound) {
        // An axis is summed here if it stands in two factors, or in one that counts as an access; else inside that
        // factor.
        std::vector<std::int32_t> summed;
        axis_set inside = bound;
        for (std::size_t a = 0; a < bound.size(); ++a) {
            if (bound[a]) continue;
            int holders = 0;
            bool in_access = false;
            for (const auto& f : t.factors)
                if (about(f.node).axes[a]) ++holders, in_access = in_access || about(f.node).accesses == 1;
            if (holders >= 2 || in_access) summed.push_back(static_cast<std::int32_t>(a)), inside[a] = 1;
        }
        // Scalars stay outside the sum, so that they become a coefficient.
        std::int32_t coefficient = -1, product = -1;
        for (const auto& f : t.factors) {
            const bool constant = about(f.node).accesses == 0;
            auto& into = constant ? coefficient : product;
            const auto made = scope(f, inside);
            into = into < 0 ? made : emit(operation::multiply, into, made);
        }
        if (!summed.empty()) {
            step_.sums.push_back(std::move(summed));
            product = emit(operation::sum, product, static_cast<std::int32_t>(step_.sums.size()) - 1);
        }
        if (product < 0) return coefficient;
        return coefficient < 0 ? product : emit(operation::multiply, coefficient, product);
    }

    std::int32_t scope(const factor& f, const axis_set& bound) {
        auto made = about(f.node).accesses <= 1 ? copy(f.node) : scope_function(f.node, bound);
        if (f.conjugated) made = emit(operation::conjugate, made);
        return f.inverted ? emit(operation::reciprocal, made) : made;
    }

    std::int32_t scope_function(std::int32_t n, const axis_set& bound) {
        const auto& source = at(n);
        if (!is_function(source.kind)) return scope(n, bound); // the denominator of a quotient
        const auto a = scope(source.a, bound);
        return emit(source.kind, a, arity(source.kind) == 2 ? scope(source.b, bound) : -1);
    }

    static bool is_function(operation kind) {
        using enum operation;
        return kind == relu || kind == exp || kind == sqrt || kind == abs || kind == min || kind == max;
    }

    /// The source tree at `n` as a sum of products.
    std::vector<term> expand(std::int32_t n, bool conjugated) {
        using enum operation;
        const auto& source = at(n);
        switch (source.kind) {
        case add:
        case subtract: {
            auto terms = expand(source.a, conjugated);
            for (auto& t : expand(source.b, conjugated)) {
                t.negative ^= source.kind == subtract;
                terms.push_back(std::move(t));
            }
            return terms;
        }
        case negate: {
            auto terms = expand(source.a, conjugated);
            for (auto& t : terms) t.negative = !t.negative;
            return terms;
        }
        case conjugate: return expand(source.a, !conjugated);
        case multiply: return multiply_out(expand(source.a, conjugated), expand(source.b, conjugated));
        case divide: return multiply_out(expand(source.a, conjugated), {term{false, {{source.b, conjugated, true}}}});
        default: return {term{false, {{n, conjugated && is_complex(step_.compute), false}}}};
        }
    }

    std::vector<term> multiply_out(const std::vector<term>& x, const std::vector<term>& y) const {
        if (x.size() * y.size() > most_terms)
            refuse(s_, "the right side distributes into {} products; at most {} are possible: split the statement",
                   x.size() * y.size(), most_terms);
        std::vector<term> out;
        for (const auto& a : x)
            for (const auto& b : y) {
                auto& t = out.emplace_back(a);
                t.negative ^= b.negative;
                t.factors.insert(t.factors.end(), b.factors.begin(), b.factors.end());
            }
        return out;
    }

    std::int32_t copy(std::int32_t n) {
        const auto& source = at(n);
        if (arity(source.kind) == 0) return emit(source.kind, source.a);
        const auto a = copy(source.a);
        return emit(source.kind, a, arity(source.kind) == 2 ? copy(source.b) : -1);
    }

    std::int32_t emit(operation kind, std::int32_t a, std::int32_t b = -1) {
        step_.nodes.push_back({kind, a, b});
        return static_cast<std::int32_t>(step_.nodes.size()) - 1;
    }

    step& step_;
    const statement& s_;
    std::vector<node> source_;
    std::vector<info> about_;
};

} // namespace

plan scope_sums(plan p, const statement& s) {
    for (auto& st : p.steps) scoper(st, s).run();
    return p;
}

} // namespace ricci::lowering
