// check_overlap: makes a statement safe whose operands share memory with its left side.
#include "lowering/check_overlap.hpp"

#include "lowering/byte_span.hpp"
#include "lowering/coincidence.hpp"
#include "lowering/gathers.hpp"
#include "lowering/operand_overlap.hpp"
#include "lowering/refuse.hpp"
#include "lowering/scatter_shape.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/tree.hpp"

#include <algorithm>
#include <cstdlib>

namespace ricci::lowering {
namespace {

class overlap_checker {
  public:
    overlap_checker(plan p, const statement& s) : plan_(std::move(p)), s_(s), names_(operand_names(s)) {}

    plan run() {
        auto& st = plan_.steps.front();
        if (element_count(st.axes, st.operands[0].present) == 0) return std::move(plan_);
        refuse_double_writes(st);
        refuse_written_tables(st);
        accumulate_left(st);
        std::vector<std::size_t> unsafe;
        for (std::size_t o = 1; o < st.operands.size(); ++o) {
            if (!is_used(st, o)) continue;
            const auto name = to_string(s_, s_.accesses[static_cast<std::size_t>(st.operands[o].source)]);
            if (!shares_memory(st, o)) {
                if (same_allocation(st, o)) note("{} is disjoint from {}", name, names_[0]);
            } else if (collision_of(st) == collision::none && is_same_element(st, o)) {
                note("{} is the element that is written: read first, then written", name);
                st.operands[o].in_place = true;
            } else {
                st.operands[o].overlaps = true;
                unsafe.push_back(o);
            }
        }
        if (!unsafe.empty()) take_temporaries(st, unsafe);
        return std::move(plan_);
    }

  private:
    template <class... Args>
    void note(fmt::format_string<Args...> format, Args&&... args) {
        plan_.notes.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    static bool is_used(const step& st, std::size_t o) {
        return std::any_of(st.nodes.begin(), st.nodes.end(), [&](const node& n) {
            return n.kind == operation::access && n.a == static_cast<std::int32_t>(o);
        });
    }

    void refuse_double_writes(const step& st) const {
        const auto& left = st.operands[0];
        if (collision_of(st) != collision::none) return refuse_other_collisions(st);
        // Writes outside of a padded left are dropped and collide with nothing: there what counts is the position,
        // not the address.
        const auto strides = left.bounds.empty() || !is_box_injective() ? left.stride : position_strides(st);
        std::vector<bounded_term> terms;
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            if (left.present[a] && (strides[a] != 0 || !is_gathered_along(st, left, a)))
                terms.push_back({strides[a], 1 - st.axes[a].extent, st.axes[a].extent - 1});
        for (const auto& g : left.gathers) {
            refuse_entry_read_twice(st, g);
            if (st.operands[static_cast<std::size_t>(g.table)].type != scalar_type::address)
                terms.push_back({g.stride, 1 - g.extent, g.extent - 1});
        }
        if (!has_solution(std::move(terms), 0, 0, true, false)) return;
        std::string moving;
        for (std::size_t a = 0; a < st.axes.size(); ++a) {
            if (!left.present[a] || st.axes[a].extent < 2) continue;
            if (strides[a] == 0 && !is_gathered_along(st, left, a))
                refuse(s_, "{} is written more than once in an element: it is the same for all {} values of index {}",
                       to_string(s_, s_.accesses[0]), st.axes[a].extent, st.axes[a].name);
            moving += fmt::format("{}{}", moving.empty() ? "" : ", ", st.axes[a].name);
        }
        refuse(s_, "{} is written more than once in an element: different values of its indices {} collide",
               to_string(s_, s_.accesses[0]), moving);
    }

    /// Where equal entries add up: values of the indices that those tables do not have still reach elements of their
    /// own.
    void refuse_other_collisions(const step& st) const {
        const auto& left = st.operands[0];
        const auto shape = scatter_shape_of(st);
        struct part {
            bounded_term term; ///< the difference of two elements
            bool differs;      ///< for any two values of what stands there
            std::string_view name;
        };
        std::vector<part> parts;
        for (const auto& g : left.gathers) {
            if (g.equal == collision::none) refuse_entry_read_twice(st, g);
            const auto& table = st.operands[static_cast<std::size_t>(g.table)];
            if (table.type != scalar_type::address)
                parts.push_back({{g.stride, 1 - g.extent, g.extent - 1},
                                 !shape.has_gather(static_cast<std::size_t>(&g - left.gathers.data())),
                                 names_[static_cast<std::size_t>(table.source)]});
        }
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            if (left.present[a] && (left.stride[a] != 0 || !is_gathered_along(st, left, a)))
                parts.push_back({{left.stride[a], 1 - st.axes[a].extent, st.axes[a].extent - 1},
                                 !shape.has_axis(a),
                                 st.axes[a].name});
        for (const auto& differing : parts) {
            if (!differing.differs || differing.term.high < 1) continue;
            std::vector<bounded_term> terms;
            for (const auto& p : parts) terms.push_back(p.term);
            terms[static_cast<std::size_t>(&differing - parts.data())].low = 1;
            if (has_solution(std::move(terms), 0, 0, false, false))
                refuse(s_, "{} is written more than once in an element: different values of {} collide",
                       to_string(s_, s_.accesses[0]), differing.name);
        }
    }

    /// Entries are different, or at different matrices, if each is read once.
    void refuse_entry_read_twice(const step& st, const gather& g) const {
        const auto& table = st.operands[static_cast<std::size_t>(g.table)];
        std::vector<bounded_term> terms;
        std::string moving;
        for (std::size_t a = 0; a < st.axes.size(); ++a) {
            if (!table.present[a]) continue;
            terms.push_back({table.stride[a], 1 - st.axes[a].extent, st.axes[a].extent - 1});
            if (st.axes[a].extent > 1) moving += fmt::format("{}{}", moving.empty() ? "" : ", ", st.axes[a].name);
        }
        if (has_solution(std::move(terms), 0, 0, true, false))
            refuse(s_, "{} is written more than once in an element: different values of {} read the same entry of {}",
                   to_string(s_, s_.accesses[0]), moving, names_[static_cast<std::size_t>(table.source)]);
    }

    void refuse_written_tables(const step& st) const {
        if (table_of_addresses(st, st.operands[0]) != nullptr) return; // where it lies cannot be seen
        const auto left = span_of(s_, access_of(st.operands[0]));
        for (const auto& o : st.operands)
            for (const auto& g : o.gathers) {
                const auto& table = access_of(st.operands[static_cast<std::size_t>(g.table)]);
                if (table.local == access_of(st.operands[0]).local && !span_of(s_, table).is_apart_from(left))
                    refuse(s_, "{} shares memory with {}, which is written",
                           names_[static_cast<std::size_t>(&table - s_.accesses.data())], names_[0]);
            }
    }

    const position& left_position(int p) const { return position_of(s_, s_.accesses[0], p); }

    /// Whether no two elements of the left's tensor share an address.
    bool is_box_injective() const {
        std::vector<bounded_term> terms;
        for (int p = 0; p < s_.accesses[0].position_count; ++p)
            terms.push_back({left_position(p).stride, 1 - left_position(p).extent, left_position(p).extent - 1});
        return !has_solution(std::move(terms), 0, 0, true);
    }

    /// Strides over the axes as if each position of the left had room for all its values.
    std::vector<std::int64_t> position_strides(const step& st) const {
        std::vector<std::int64_t> out(st.axes.size(), 0);
        std::int64_t stride = 1;
        for (int p = 0; p < s_.accesses[0].position_count; ++p) {
            const auto& position = left_position(p);
            std::int64_t reach = 1;
            for (int t = 0; t < position.term_count; ++t) {
                const auto& term = s_.terms[static_cast<std::size_t>(position.first_term + t)];
                const auto axis = static_cast<std::size_t>(term.label); // fix_indices made one axis a label
                std::int64_t step = 0, span = 0;
                if (__builtin_mul_overflow(term.coefficient, stride, &step) ||
                    __builtin_add_overflow(out[axis], step, &out[axis]) ||
                    __builtin_mul_overflow(std::abs(term.coefficient), st.axes[axis].extent - 1, &span) ||
                    __builtin_add_overflow(reach, span, &reach))
                    return st.operands[0].stride;
            }
            if (__builtin_mul_overflow(stride, reach, &stride)) return st.operands[0].stride;
        }
        return out;
    }

    /// A = A + ... as A += ..., which reads the left only in the kernel's last step.
    void accumulate_left(step& st) {
        if (st.op != assignment::assign) return;
        // The spine of additions from the root; the term to take out must stand on it with a plus sign.
        std::int32_t parent = -1;
        auto at = static_cast<std::int32_t>(st.nodes.size()) - 1;
        while (true) {
            const auto n = st.nodes[static_cast<std::size_t>(at)];
            if (n.kind != operation::add && n.kind != operation::subtract) return;
            const bool right = n.kind == operation::add && is_left(st, n.b);
            if (right || is_left(st, n.a)) {
                auto rest = right ? n.a : n.b;
                std::vector<node> kept;
                if (parent < 0) {
                    const bool negative = n.kind == operation::subtract;
                    kept = subtree(st.nodes, rest);
                    if (negative)
                        st.op = assignment::subtract;
                    else
                        st.op = assignment::add;
                } else {
                    // A - x + y: one of many spellings, left to the general case
                    if (n.kind == operation::subtract) return;
                    st.nodes[static_cast<std::size_t>(parent)].a = rest;
                    kept = subtree(st.nodes, static_cast<std::int32_t>(st.nodes.size()) - 1);
                    st.op = assignment::add;
                }
                st.nodes = std::move(kept);
                note("{} on the right is the left side itself: it becomes {}", names_[0],
                     st.op == assignment::add ? "+=" : "-=");
                return;
            }
            parent = at;
            at = n.a;
        }
    }

    bool is_left(const step& st, std::int32_t n) const {
        const auto& leaf = st.nodes[static_cast<std::size_t>(n)];
        return leaf.kind == operation::access && st.operands[static_cast<std::size_t>(leaf.a)].bounds.empty() &&
               is_same_element(st, static_cast<std::size_t>(leaf.a));
    }

    const access& access_of(const operand& o) const { return s_.accesses[static_cast<std::size_t>(o.source)]; }

    /// Bytes from the operand's first element to the left's.
    std::int64_t distance(const step& st, std::size_t o) const {
        const auto address = [&](const operand& x) {
            return reinterpret_cast<std::intptr_t>(access_of(x).data) + x.offset * size_of(x.type);
        };
        return address(st.operands[0]) - address(st.operands[o]);
    }

    bool same_space(const step& st, std::size_t o) const {
        return access_of(st.operands[0]).local == access_of(st.operands[o]).local;
    }
    bool same_allocation(const step& st, std::size_t o) const {
        const auto* const data = access_of(st.operands[0]).data;
        return same_space(st, o) && data != nullptr && data == access_of(st.operands[o]).data;
    }

    bool shares_memory(const step& st, std::size_t o) const {
        const auto& left = st.operands[0];
        const auto& right = st.operands[o];
        // Matrices at addresses are apart, the user says, unless both sides find them in the same memory.
        const auto *const to = table_of_addresses(st, left), *const from = table_of_addresses(st, right);
        if (to != nullptr || from != nullptr)
            return to != nullptr && from != nullptr && access_of(*to).data == access_of(*from).data;
        // An operand without elements may have any strides.
        if (!same_space(st, o) || element_count(st.axes, right.present) == 0) return false;
        // Two tensors apart cannot overlap, wherever the dropped positions of a padded access would lie.
        if (span_of(s_, access_of(left)).is_apart_from(span_of(s_, access_of(right)))) return false;
        return touch(st, left, right, distance(st, o));
    }

    bool is_same_element(const step& st, std::size_t o) const {
        const auto& left = st.operands[0];
        const auto& right = st.operands[o];
        if (!same_space(st, o) || left.type != right.type || distance(st, o) != 0) return false;
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            if (st.axes[a].extent > 1 &&
                (left.stride[a] != right.stride[a] || (right.present[a] && !left.present[a])))
                return false;
        return std::equal(
            left.gathers.begin(), left.gathers.end(), right.gathers.begin(), right.gathers.end(),
            [&](const gather& x, const gather& y) { return x.stride == y.stride && is_same_entry(st, x, y); });
    }

    /// Whether two tables are one, read at the same place.
    bool is_same_entry(const step& st, const gather& x, const gather& y) const {
        const auto &one = st.operands[static_cast<std::size_t>(x.table)],
                   &other = st.operands[static_cast<std::size_t>(y.table)];
        if (access_of(one).data != access_of(other).data || one.type != other.type || one.offset != other.offset)
            return false;
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            if (st.axes[a].extent > 1 && one.stride[a] != other.stride[a]) return false;
        return true;
    }

    void take_temporaries(step& st, const std::vector<std::size_t>& unsafe) {
        const auto bytes = [&](const operand& o, scalar_type type) {
            return static_cast<double>(element_count(st.axes, o.present)) * static_cast<double>(size_of(type));
        };
        double copies = 0;
        for (const auto o : unsafe) copies += bytes(st.operands[o], st.operands[o].type);
        const double result = bytes(st.operands[0], st.compute);
        if (copies <= result) {
            std::vector<step> first;
            for (const auto o : unsafe) {
                auto& operand = st.operands[o];
                note("{} overlaps {}: copied first, {:.0f} bytes", to_string(s_, access_of(operand)), names_[0],
                     bytes(operand, operand.type));
                auto copy = add_temporary(plan_, st.axes, operand.present, operand.type, {nominal(st, operand)});
                first.push_back(copy_step(st, copy, assignment::assign, operand, accumulator(operand.type)));
                operand = std::move(copy);
            }
            plan_.steps.insert(plan_.steps.begin(), std::make_move_iterator(first.begin()),
                               std::make_move_iterator(first.end()));
        } else {
            for (const auto o : unsafe)
                note("{} overlaps {}: the result goes through a temporary, {:.0f} bytes",
                     to_string(s_, access_of(st.operands[o])), names_[0], result);
            auto kept =
                add_temporary(plan_, st.axes, st.operands[0].present, st.compute, {nominal(st, st.operands[0])});
            auto last = copy_step(st, st.operands[0], st.op, kept, st.compute);
            st.operands[0] = std::move(kept);
            st.op = assignment::assign;
            for (auto& o : st.operands) o.in_place = false;
            plan_.steps.push_back(std::move(last));
        }
    }

    plan plan_;
    const statement& s_;
    std::vector<std::string> names_;
};

} // namespace

plan check_overlap(plan p, const statement& s) { return overlap_checker(std::move(p), s).run(); }

} // namespace ricci::lowering
