// slice_steps: steps that hand each other temporaries run slice by slice of an index.
#include "lowering/slice_steps.hpp"

#include "lowering/temporaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace ricci::lowering {
namespace {

/// Of what a slice reads and writes, a part of L2; temporaries that are smaller as a whole need no slices.
constexpr double slice_bytes = 512 << 10, least_bytes = 1 << 20;
constexpr std::int64_t even_length = 16; ///< longer slices are multiples of it, for the kernels' tiles

std::optional<std::size_t> axis_named(const step& st, std::string_view name) {
    for (std::size_t a = 0; a < st.axes.size(); ++a)
        if (st.axes[a].name == name) return a;
    return std::nullopt;
}

/// Steps [first, last] of a plan, to be cut along one axis.
struct candidate_group {
    std::size_t first = 0, last = 0;
    std::string_view axis;
    std::int64_t extent = 0, length = 0;
};

class slicer {
  public:
    explicit slicer(plan& p) : plan_(p) {}

    void run() {
        std::vector<step> steps;
        for (std::size_t n = 0; n < plan_.steps.size();) {
            const auto group = longest_from(n);
            if (!group) {
                steps.push_back(plan_.steps[n++]); // all of them are looked at again
                continue;
            }
            cut(*group, steps);
            n = group->last + 1;
        }
        plan_.steps = std::move(steps);
    }

  private:
    const step& at(std::size_t n) const { return plan_.steps[n]; }

    std::optional<candidate_group> longest_from(std::size_t first) const {
        for (auto last = plan_.steps.size() - 1; last > first; --last) {
            // Of a program slices might read what another statement's write.
            if (at(first).statement != at(last).statement) continue;
            const auto begin = plan_.steps.begin();
            if (std::any_of(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last) + 1,
                            [](const step& st) { return st.matrices.task != matrix_task::none; }))
                continue;
            const auto own = own_temporaries(plan_, first, last);
            if (own.empty() || !is_connected(first, last, own)) continue;
            candidate_group best;
            for (const auto& axis : at(first).axes) {
                if (axis.extent <= best.extent || !can_cut(first, last, axis.name, own)) continue;
                best = {first, last, axis.name, axis.extent, length_of(first, last, axis, own)};
            }
            if (best.extent > best.length) return best;
        }
        return std::nullopt;
    }

    /// Whether the first step writes one of `own`, the last one reads one, and none writes another temporary.
    bool is_connected(std::size_t first, std::size_t last, const std::set<std::int32_t>& own) const {
        for (auto n = first; n <= last; ++n)
            if (const auto source = at(n).operands[0].source; source < 0 && own.count(source) == 0) return false;
        const auto& inputs = at(last).operands;
        return own.count(at(first).operands[0].source) > 0 &&
               std::any_of(inputs.begin() + 1, inputs.end(),
                           [&](const operand& o) { return own.count(o.source) > 0; });
    }

    static bool is_outermost(const operand& o, std::size_t a) {
        return o.present[a] == 0 || std::none_of(o.stride.begin(), o.stride.end(), [&](std::int64_t s) {
                   return magnitude(s) > magnitude(o.stride[a]);
               });
    }

    bool can_cut(std::size_t first, std::size_t last, std::string_view name,
                 const std::set<std::int32_t>& own) const {
        for (auto n = first; n <= last; ++n) {
            const auto& st = at(n);
            const auto a = axis_named(st, name);
            if (st.chain >= 0 || !a || !st.axes[*a].variable || st.axes[*a].mirrored ||
                st.operands[0].present[*a] == 0)
                return false;
            for (const auto& list : st.sums)
                if (std::find(list.begin(), list.end(), static_cast<std::int32_t>(*a)) != list.end()) return false;
            for (const auto& o : st.operands) {
                // A slice must not read what another one has written; and its kernels are those of the whole, whose
                // other strides do not depend on the extent.
                if (!o.gathers.empty() || o.overlaps || !is_outermost(o, *a)) return false;
                if (own.count(o.source) > 0 && o.present[*a] == 0) return false;
                for (const auto& b : o.bounds)
                    if (b.coefficient[*a] != 0) return false;
            }
        }
        return true;
    }

    /// All of it if the temporaries are small.
    std::int64_t length_of(std::size_t first, std::size_t last, const axis& cut,
                           const std::set<std::int32_t>& own) const {
        double temporaries = 0, all = 0; // bytes
        for (auto n = first; n <= last; ++n)
            for (std::size_t o = 0; o < at(n).operands.size(); ++o) {
                const auto& operand = at(n).operands[o];
                if (operand.present[*axis_named(at(n), cut.name)] == 0) continue;
                const auto elements = static_cast<double>(element_count(at(n).axes, operand.present));
                const bool is_own = own.count(operand.source) > 0;
                const double bytes = elements * static_cast<double>(size_of(operand.type));
                if (is_own && o == 0) temporaries += bytes;
                if (!is_own || o == 0) all += bytes;
            }
        if (temporaries < least_bytes) return cut.extent;
        const auto fitting = static_cast<std::int64_t>(slice_bytes * static_cast<double>(cut.extent) / all);
        const auto length = std::max<std::int64_t>(fitting, 1);
        return std::min(cut.extent, length > even_length ? length / even_length * even_length : length);
    }

    void cut(const candidate_group& g, std::vector<step>& out) {
        const auto own = own_temporaries(plan_, g.first, g.last);
        double whole = 0, kept = 0; // bytes
        for (auto n = g.first; n <= g.last; ++n) {
            const auto& left = at(n).operands[0];
            if (own.count(left.source) == 0) continue;
            auto& t = plan_.temporaries[static_cast<std::size_t>(-1 - left.source)];
            whole += static_cast<double>(t.elements) * static_cast<double>(size_of(t.type));
            t.elements = left.stride[*axis_named(at(n), g.axis)] * g.length; // the axis is the outermost of all
            kept += static_cast<double>(t.elements) * static_cast<double>(size_of(t.type));
        }
        plan_.notes.push_back(fmt::format("{} steps slice by slice of {}, {} at a time: {:.3g} MB of temporaries "
                                          "instead of {:.3g}, which stay in the cache",
                                          g.last - g.first + 1, g.axis, g.length, kept / 1e6, whole / 1e6));
        const auto count = g.extent / g.length, rest = g.extent % g.length;
        add(g, own, {g.axis, count, g.length}, 0, out);
        if (rest > 0) add(g, own, {g.axis, 1, rest}, count * g.length, out);
    }

    /// The group's steps for slices from `begin` on.
    void add(const candidate_group& g, const std::set<std::int32_t>& own, const slices& s, std::int64_t begin,
             std::vector<step>& out) {
        plan_.groups.push_back(s);
        for (auto n = g.first; n <= g.last; ++n) {
            auto st = at(n);
            const auto a = *axis_named(st, g.axis);
            st.group = static_cast<std::int32_t>(plan_.groups.size()) - 1;
            st.axes[a].extent = s.length;
            for (auto& o : st.operands)
                if (own.count(o.source) == 0) o.offset += begin * o.stride[a], o.slice = s.length * o.stride[a];
            out.push_back(std::move(st));
        }
    }

    plan& plan_;
};

} // namespace

plan slice_steps(plan p, const machine& chip) {
    if (chip.has_compiler) slicer(p).run();
    return p;
}

} // namespace ricci::lowering
