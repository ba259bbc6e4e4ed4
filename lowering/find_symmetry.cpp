// find_symmetry: products whose result is the same with two of its axes exchanged.
#include "lowering/find_symmetry.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

/// An access as a factor of a product.
struct factor {
    std::int32_t operand = 0;
    bool conjugated = false;
};

class symmetry_finder {
  public:
    symmetry_finder(step& st, const statement& s) : st_(st), s_(s) {}

    /// Marks the first two axes that can be exchanged.
    void mark() {
        if (st_.op != assignment::assign || !collect(static_cast<std::int32_t>(st_.nodes.size()) - 1)) return;
        if (factors_.size() < 2 || !is_plain(st_.operands[0])) return;
        const auto& left = st_.operands[0].present;
        for (std::size_t a = 0; a < st_.axes.size(); ++a)
            for (std::size_t b = a + 1; b < st_.axes.size(); ++b) {
                if (!left[a] || !left[b] || st_.axes[a].extent != st_.axes[b].extent) continue;
                st_.symmetry = symmetry_along(a, b);
                if (st_.symmetry == symmetry::none) continue;
                st_.axes[a].mirrored = st_.axes[b].mirrored = true;
                return;
            }
    }

  private:
    /// The factors under node n; false where there is more than a product of accesses and scalars, summed.
    bool collect(std::int32_t n) {
        const auto& here = st_.nodes[static_cast<std::size_t>(n)];
        switch (here.kind) {
        case operation::access: return add(here.a, false);
        case operation::conjugate: {
            const auto& below = st_.nodes[static_cast<std::size_t>(here.a)];
            return below.kind == operation::access && add(below.a, true);
        }
        case operation::scalar: has_scalars_ = true; return true;
        case operation::multiply: return collect(here.a) && collect(here.b);
        case operation::negate:
        case operation::sum: return collect(here.a);
        default: return false;
        }
    }

    bool add(std::int32_t operand, bool conjugated) {
        const auto& o = st_.operands[static_cast<std::size_t>(operand)];
        if (!is_plain(o) || o.in_place) return false;
        factors_.push_back({operand, conjugated && is_complex(o.type)});
        return true;
    }

    static bool is_plain(const operand& o) { return o.bounds.empty() && o.gathers.empty(); }

    /// Hermitian wants the product without scalars, which might be complex.
    symmetry symmetry_along(std::size_t a, std::size_t b) const {
        const bool one_alone = std::any_of(factors_.begin(), factors_.end(), [&](const factor& f) {
            return present(f)[a] != present(f)[b];
        });
        if (!one_alone) return symmetry::none; // of a batch, or two axes that only the left has
        if (is_same_exchanged(a, b, false)) return symmetry::symmetric;
        return !has_scalars_ && is_same_exchanged(a, b, true) ? symmetry::hermitian : symmetry::none;
    }

    const std::vector<char>& present(const factor& f) const {
        return st_.operands[static_cast<std::size_t>(f.operand)].present;
    }

    /// Whether the factors with a and b exchanged, and conjugated or not, are the factors in another order.
    bool is_same_exchanged(std::size_t a, std::size_t b, bool conjugated) const {
        std::vector<char> taken(factors_.size(), 0);
        for (const auto& f : factors_) {
            std::size_t g = 0;
            while (g < factors_.size() && (taken[g] != 0 || !is_exchanged(f, factors_[g], a, b, conjugated))) ++g;
            if (g == factors_.size()) return false;
            taken[g] = 1;
        }
        return true;
    }

    bool is_exchanged(const factor& f, const factor& g, std::size_t a, std::size_t b, bool conjugated) const {
        auto from = st_.operands[static_cast<std::size_t>(f.operand)];
        const auto& to = st_.operands[static_cast<std::size_t>(g.operand)];
        std::swap(from.stride[a], from.stride[b]);
        std::swap(from.present[a], from.present[b]);
        const bool turns = conjugated && is_complex(from.type);
        return from.type == to.type && from.offset == to.offset && from.stride == to.stride &&
               from.present == to.present && f.conjugated == (g.conjugated != turns) &&
               is_same_memory(from.source, to.source);
    }

    bool is_same_memory(std::int32_t one, std::int32_t other) const {
        if (one < 0 || other < 0 || one == other) return one == other;
        const auto &a = s_.accesses[static_cast<std::size_t>(one)], &b = s_.accesses[static_cast<std::size_t>(other)];
        return a.data == b.data && a.local == b.local;
    }

    step& st_;
    const statement& s_;
    std::vector<factor> factors_;
    bool has_scalars_ = false;
};

} // namespace

plan find_symmetry(plan p, const statement& s) {
    for (auto& st : p.steps) symmetry_finder(st, s).mark();
    return p;
}

void forget_symmetry(step& st) {
    st.symmetry = symmetry::none;
    for (auto& a : st.axes) a.mirrored = false;
}

} // namespace ricci::lowering
