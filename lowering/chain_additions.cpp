// chain_additions: results of a chain that the steps behind it add to elements which tables give, in order.
#include "lowering/chain_additions.hpp"

#include "lowering/gathers.hpp"
#include "lowering/same_memory.hpp"
#include "lowering/scatter_shape.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>
#include <optional>

namespace ricci::lowering {
namespace {

class addition_finder {
  public:
    addition_finder(chain& c, const plan& p, std::size_t first, std::size_t last)
        : c_(c), plan_(p), first_(first), last_(last) {}

    void run() {
        for (auto n = last_; n < plan_.steps.size(); ++n) {
            auto found = addition(n);
            if (!found) return;
            c_.additions.push_back(*std::move(found));
        }
    }

  private:
    /// The step's axes but the element's as the ordered pass goes through them, the first fastest; nothing where
    /// elements are not its slowest.
    static std::optional<std::vector<std::size_t>> ordered_axes(const step& st, std::size_t element) {
        const auto left = nominal(st, st.operands[0]);
        const auto shape = scatter_shape_of(st);
        std::vector<std::size_t> out;
        for (std::size_t a = 0; a < st.axes.size(); ++a) {
            if (a == element || st.axes[a].extent == 1) continue;
            if (shape.has_axis(a) && magnitude(left.stride[a]) >= magnitude(left.stride[element])) return {};
            out.push_back(a);
        }
        std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
            return magnitude(left.stride[a]) < magnitude(left.stride[b]);
        });
        return out;
    }

    /// The axis that goes from one slice of the span to the next.
    std::optional<std::size_t> element_axis(const step& st, const operand& from, const chain_memory& span) const {
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            if (from.present[a] && from.stride[a] == span.element_step && st.axes[a].extent == c_.elements) return a;
        return {};
    }

    /// The chain's memory that is the temporary, if the chain writes all of it and only `n` reads it.
    std::optional<std::size_t> span_of(std::int32_t temporary, std::size_t n) const {
        for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
            const auto& all = plan_.steps[s].operands;
            for (std::size_t o = 0; o < all.size(); ++o) {
                if (all[o].source != temporary || s == n) continue;
                if (s < first_ || s >= last_ || o != 0) return {};
            }
        }
        std::optional<std::size_t> out;
        for (std::size_t m = 0; m < c_.memories.size(); ++m)
            if (c_.memories[m].source == temporary) {
                if (out) return {};
                out = m;
            }
        if (!out || !c_.memories[*out].is_span || c_.memories[*out].is_read) return {};
        return out;
    }

    /// Earlier steps of the chain, or between it and step `n`, have nothing to do with what that one writes.
    bool may_come_early(std::size_t n) const {
        const auto left = plan_.steps[n].operands[0].source;
        for (auto s = first_; s < n; ++s)
            for (const auto& o : plan_.steps[s].operands)
                if (may_share_memory(plan_, o.source, left)) return false;
        return true;
    }

    /// A memory whose elements begin at an operand's.
    std::int32_t add_memory(const operand& o, std::size_t element) {
        chain_memory m;
        m.type = o.type, m.source = o.source, m.offset = o.offset, m.element_step = o.stride[element];
        c_.memories.push_back(m);
        return static_cast<std::int32_t>(c_.memories.size()) - 1;
    }

    static std::vector<std::int64_t> along(const std::vector<std::size_t>& axes, const operand& o) {
        std::vector<std::int64_t> out;
        for (const auto a : axes) out.push_back(o.stride[a]);
        return out;
    }

    std::optional<chain_addition> addition(std::size_t n) {
        const auto& st = plan_.steps[n];
        const auto& left = st.operands[0];
        if (collision_of(st) != collision::ordered || !left.bounds.empty() || left.source < 0) return {};
        if (table_of_addresses(st, left) != nullptr) return {};
        if (st.nodes.size() != 1 || st.nodes.front().kind != operation::access) return {};
        const auto& from = st.operands[static_cast<std::size_t>(st.nodes.front().a)];
        // Rounded once, as the sum is.
        if (from.source >= 0 || from.type != c_.compute || left.type != c_.compute || st.compute != c_.compute)
            return {};
        if (!from.gathers.empty() || !from.bounds.empty()) return {};
        const auto span = span_of(from.source, n);
        if (!span || !may_come_early(n)) return {};
        const auto element = element_axis(st, from, c_.memories[*span]);
        if (!element) return {};
        const auto axes = ordered_axes(st, *element);
        if (!axes) return {};
        chain_addition out;
        out.from = static_cast<std::int32_t>(*span), out.offset = from.offset - c_.memories[*span].offset;
        out.subtracts = st.op == assignment::subtract;
        for (const auto a : *axes) out.extent.push_back(st.axes[a].extent);
        out.from_stride = along(*axes, from), out.to_stride = along(*axes, left);
        auto low = out.offset, high = out.offset;
        for (std::size_t a = 0; a < axes->size(); ++a)
            (out.from_stride[a] < 0 ? low : high) += out.from_stride[a] * (out.extent[a] - 1);
        if (low < 0 || high >= c_.memories[*span].reach) return {};
        out.to = add_memory(left, *element);
        for (const auto& g : left.gathers) {
            const auto& table = st.operands[static_cast<std::size_t>(g.table)];
            out.tables.push_back({add_memory(table, *element), g.stride, along(*axes, table)});
        }
        join_axes(out);
        return out;
    }

    /// Axes of which all strides go on where those of the one before end become one: a long loop for short ones.
    static void join_axes(chain_addition& out) {
        std::vector<std::vector<std::int64_t>*> strides{&out.from_stride, &out.to_stride};
        for (auto& t : out.tables) strides.push_back(&t.stride);
        for (std::size_t a = 0; a + 1 < out.extent.size();) {
            const bool goes_on = std::all_of(strides.begin(), strides.end(),
                                             [&](const auto* s) { return (*s)[a + 1] == (*s)[a] * out.extent[a]; });
            if (!goes_on) {
                ++a;
                continue;
            }
            out.extent[a] *= out.extent[a + 1];
            const auto next = static_cast<std::ptrdiff_t>(a) + 1;
            out.extent.erase(out.extent.begin() + next);
            for (auto* s : strides) s->erase(s->begin() + next);
        }
    }

    chain& c_;
    const plan& plan_;
    const std::size_t first_, last_;
};

} // namespace

void find_additions(chain& c, const plan& p, std::size_t first, std::size_t last) {
    addition_finder(c, p, first, last).run();
}

} // namespace ricci::lowering
