// fuse_statements: steps that hand each other temporaries become one kernel, a chain.
#include "lowering/fuse_statements.hpp"

#include "lowering/chain_additions.hpp"
#include "lowering/chain_banks.hpp"
#include "lowering/chain_builder.hpp"
#include "lowering/chain_constants.hpp"
#include "lowering/chain_layout.hpp"
#include "lowering/chain_shape.hpp"
#include "lowering/chain_slots.hpp"
#include "lowering/cost_model.hpp"
#include "lowering/expected_seconds.hpp"
#include "lowering/gathers.hpp"
#include "lowering/matrix_sizes.hpp"
#include "lowering/passes.hpp"
#include "lowering/same_memory.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/write_through.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

namespace ricci::lowering {
namespace {

constexpr std::size_t longest_chain = 48;     ///< steps
constexpr std::int64_t least_elements = 1024; ///< of an axis that is no batch

class fuser {
  public:
    fuser(plan& p, const machine& chip, const priors& known) : plan_(p), chip_(chip), known_(known) {}

    void run() {
        for (std::size_t first = 0; first + 1 < plan_.steps.size();) {
            auto found = longest_from(first);
            if (found) take(first, *found);
            if (cut_)
                plan_.notes.push_back(fmt::format("steps {} {} {} are not fused{}", first + 1,
                                                  cut_->last == first + 1 ? "and" : "to", cut_->last + 1, cut_->why));
            first = found ? found->last + 1 : first + 1;
        }
    }

  private:
    struct found_chain {
        std::size_t last;
        std::set<std::int32_t> own; ///< temporaries
        chain made;
        double apart;                            ///< seconds, of a kernel for each step
        tile_origin origin = tile_origin::model; ///< of its block
    };

    const step& at(std::size_t n) const { return plan_.steps[n]; }

    /// cut_ says why no longer one is a chain.
    std::optional<found_chain> longest_from(std::size_t first) {
        cut_.reset();
        auto end = first;
        while (end < plan_.steps.size() && end < first + longest_chain && may_be_part(at(end))) ++end;
        if (end == first) return {};
        for (auto last = end - 1; last > first; --last) {
            const auto own = temporaries_of(first, last);
            if (own.empty() || !has_own(at(first), own, writes_operand)) continue;
            if (!has_own(at(last), own, reads_operand)) continue;
            why_.clear();
            const auto shorter = written_through(first, last, own);
            for (const auto& axis : axes_of(first, last)) {
                if (const auto both = conflict_in(first, last, own, axis)) {
                    tell(fmt::format(": steps {} and {} are of the same memory, at other elements of it",
                                     both->first + 1, both->second + 1));
                    continue;
                }
                for (const auto& steps : {shorter, steps_of(first, last)}) {
                    if (steps.empty()) continue;
                    auto made = build(first, last, steps, axis, own);
                    if (!made) continue;
                    found_chain out{last, own, *std::move(made), 0, tile_origin::model};
                    if (pays(first, out)) return out;
                }
            }
            if (!why_.empty()) cut_ = {last, why_};
        }
        return {};
    }

    /// What is added to elements that tables give is what the step before has computed: it is added there, without a
    /// phase of its own. Empty where the two are not such.
    std::vector<step> written_through(std::size_t first, std::size_t last, const std::set<std::int32_t>& own) const {
        if (is_call(at(last)) || is_call(at(last - 1))) return {};
        if (at(last).operands[0].gathers.empty() || collision_of(at(last)) == collision::ordered) return {};
        const auto source = at(last - 1).operands[0].source;
        for (auto n = first; n + 1 < last; ++n)
            for (const auto& o : at(n).operands)
                if (o.source == source) return {};
        auto both = write_through(at(last - 1), at(last));
        if (!both || own.count(source) == 0) return {};
        auto out = steps_of(first, last);
        out.pop_back();
        out.back() = *std::move(both);
        return out;
    }

    std::vector<step> steps_of(std::size_t first, std::size_t last) const {
        return {plan_.steps.begin() + static_cast<std::ptrdiff_t>(first),
                plan_.steps.begin() + static_cast<std::ptrdiff_t>(last) + 1};
    }

    std::optional<chain> build(std::size_t first, std::size_t last, const std::vector<step>& steps,
                               std::string_view axis, const std::set<std::int32_t>& own) {
        chain_builder builder(plan_, axis, own);
        for (const auto& st : steps)
            if (const auto problem = builder.add(st)) {
                const auto n = &st == &steps.back() ? last : first + static_cast<std::size_t>(&st - steps.data());
                tell(fmt::format(" by {}: step {}: {}", axis, n + 1, *problem));
                return {};
            }
        return std::move(builder).finish();
    }

    void tell(std::string why) {
        if (why_.empty()) why_ = std::move(why);
    }

    /// Axes of a step's output that may be the elements', the longest first: batches, or long ones.
    std::vector<std::string_view> axes_of(std::size_t first, std::size_t last) const {
        const auto& st = at(first);
        const auto is_batch = [&](std::string_view name) {
            for (auto n = first; n <= last; ++n)
                for (std::size_t a = 0; a < at(n).axes.size(); ++a)
                    if (at(n).axes[a].name == name && (at(n).axes[a].variable || counts_matrices(at(n), a)))
                        return true;
            return false;
        };
        std::vector<std::size_t> axes;
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            if (is_written_along(st, a) && st.axes[a].extent > 1 &&
                (st.axes[a].extent >= least_elements || is_batch(st.axes[a].name)))
                axes.push_back(a);
        std::stable_sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) {
            if (st.axes[a].variable != st.axes[b].variable) return st.axes[a].variable > st.axes[b].variable;
            return st.axes[a].extent > st.axes[b].extent;
        });
        std::vector<std::string_view> out;
        for (const auto a : axes) out.push_back(st.axes[a].name);
        return out;
    }

    /// The steps' own ones whose dimensions are known and that slots can hold.
    std::set<std::int32_t> temporaries_of(std::size_t first, std::size_t last) const {
        auto out = own_temporaries(plan_, first, last);
        for (auto source = out.begin(); source != out.end();) {
            const auto& t = plan_.temporaries[static_cast<std::size_t>(-1 - *source)];
            source = t.extents.empty() || !fits_slots(t) ? out.erase(source) : std::next(source);
        }
        return out;
    }

    static bool is_call(const step& st) { return st.matrices.task != matrix_task::none; }
    static bool may_be_part(const step& st) { return st.kernel == family::none || is_call(st); }

    static bool counts_matrices(const step& st, std::size_t axis) {
        if (!is_call(st)) return false;
        const auto batch = batch_of_matrices(st);
        return std::find(batch.begin(), batch.end(), static_cast<std::int32_t>(axis)) != batch.end();
    }

    static bool is_written_along(const step& st, std::size_t axis) {
        for (std::size_t o = 0; o < st.operands.size(); ++o)
            if (writes_operand(st, o) && st.operands[o].present[axis]) return true;
        return false;
    }

    /// Whether one of a step's operands that it uses so is among `own`.
    static bool has_own(const step& st, const std::set<std::int32_t>& own, bool (*uses)(const step&, std::size_t)) {
        for (std::size_t o = 0; o < st.operands.size(); ++o)
            if (uses(st, o) && own.count(st.operands[o].source) > 0) return true;
        return false;
    }

    /// The strides and extents by which a step goes through its output.
    static std::multiset<std::pair<std::int64_t, std::int64_t>> ways_of(const step& st) {
        std::multiset<std::pair<std::int64_t, std::int64_t>> out;
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            if (st.operands[0].present[a] && st.axes[a].extent > 1)
                out.emplace(st.operands[0].stride[a], st.axes[a].extent);
        return out;
    }

    /// Whether two steps write the same elements for the same values of their indices.
    static bool write_alike(const step& a, const step& b) {
        const auto &x = a.operands[0], &y = b.operands[0];
        if (!x.gathers.empty() || !y.gathers.empty()) // to the same ones or to others
            return collision_of(a) == collision::atomic && collision_of(b) == collision::atomic;
        if (x.source != y.source || x.type != y.type || x.offset != y.offset) return false;
        if (ways_of(a) != ways_of(b)) return false;
        for (std::size_t n = 0; n < a.axes.size(); ++n)
            for (std::size_t o = 0; o < b.axes.size(); ++o)
                if (a.axes[n].name == b.axes[o].name && x.present[n] && y.present[o] && x.stride[n] != y.stride[o])
                    return false;
        return true;
    }

    bool share_memory(const operand& left, const operand& other) const {
        // Of one statement what else is the same tensor is the very element that is written, or overlaps; through a
        // table it is any element.
        return left.gathers.empty() ? memory_of(plan_, left.source) == memory_of(plan_, other.source)
                                    : may_share_memory(plan_, left.source, other.source);
    }

    /// Where an operand lies for one value of an axis.
    struct slice {
        std::int64_t step = 0;
        chain_reach reach;
    };
    static std::optional<slice> slice_of(const step& st, const operand& o, std::string_view axis) {
        if (!o.gathers.empty() || !o.bounds.empty()) return {};
        slice out{0, {o.offset, o.offset}};
        for (std::size_t a = 0; a < st.axes.size(); ++a) {
            if (!o.present[a]) continue;
            if (st.axes[a].name == axis)
                out.step = o.stride[a];
            else
                out.reach.go_along(o.stride[a], st.axes[a].extent);
        }
        return out;
    }

    /// Whether two steps that read or write the same tensor do so in slices that no two values of the axis share:
    /// then the steps' order is that of a chain's phases.
    bool keep_to_slices(const step& a, const operand& x, const step& b, const operand& y,
                        std::string_view axis) const {
        const auto one = slice_of(a, x, axis), other = slice_of(b, y, axis);
        return same_tensor(plan_, x.source) == same_tensor(plan_, y.source) && one && other &&
               one->step == other->step &&
               std::max(one->reach.last, other->reach.last) - std::min(one->reach.first, other->reach.first) <
                   std::abs(one->step);
    }

    /// Two steps of which one reads or writes memory outside of the chain that the other writes: elements are not
    /// computed in the steps' order. What each element does in a slice of its own is fine, and so is adding to what
    /// was written at the same place by the same element.
    std::optional<std::pair<std::size_t, std::size_t>>
    conflict_in(std::size_t first, std::size_t last, const std::set<std::int32_t>& own, std::string_view axis) const {
        for (auto w = first; w <= last; ++w)
            for (std::size_t l = 0; l < at(w).operands.size(); ++l) {
                const auto& left = at(w).operands[l];
                if (!writes_operand(at(w), l) || own.count(left.source) > 0) continue;
                for (auto n = first; n <= last; ++n)
                    if (n != w && conflicts(w, left, n, axis)) return std::pair{std::min(n, w), std::max(n, w)};
            }
        return {};
    }

    bool conflicts(std::size_t w, const operand& left, std::size_t n, std::string_view axis) const {
        const bool are_plain = !is_call(at(w)) && !is_call(at(n));
        for (std::size_t o = 0; o < at(n).operands.size(); ++o) {
            const auto& other = at(n).operands[o];
            if (!share_memory(left, other)) continue;
            if (keep_to_slices(at(w), left, at(n), other, axis)) continue;
            if (!are_plain || o != 0 || !write_alike(at(n), at(w))) return true;
        }
        return false;
    }

    bool pays(std::size_t first, found_chain& f) {
        auto& c = f.made;
        c.bytes = bytes_of(first, f) / static_cast<double>(c.elements);
        find_spans(c, chip_.kind == target::cuda);
        reuse_slots(c, chip_);
        if (chip_.kind == target::cuda) space_slots(c);
        choose_constants(c, chip_);
        if (const auto origin = choose_chain_shape(c, chip_, known_)) {
            f.origin = *origin;
        } else {
            const auto least = least_memory(c, chip_);
            tell(fmt::format(": a block of {} takes {} bytes of {}, of {} that there are for it",
                             chip_.kind == target::cpu ? "a vector's elements" : "one element", least.bytes,
                             chip_.kind == target::cpu ? "L2" : "shared memory", least.most));
            return false;
        }
        f.apart = seconds_apart(first, f.last);
        const auto together = chain_seconds(c, chip_);
        if (together < f.apart) return true;
        tell(fmt::format(": expected to take {:.3g} us, a kernel for each {:.3g}", together * 1e6, f.apart * 1e6));
        return false;
    }

    /// Of a kernel for each step, by the roofline; where matrices are factored, of which a chain's kernel does not
    /// come near it, by what the kernels' models expect.
    double seconds_apart(std::size_t first, std::size_t last) const {
        const auto steps = steps_of(first, last);
        double out = 0;
        if (std::none_of(steps.begin(), steps.end(), is_call)) {
            for (const auto& st : steps) out += cost_model(st, chip_).seconds;
            return out;
        }
        plan apart;
        apart.steps = steps;
        apart.temporaries = plan_.temporaries;
        apart.memory_of_access = plan_.memory_of_access, apart.same_access = plan_.same_access;
        const pass_observer unseen = [](std::string_view, plan p) { return p; };
        return expected_seconds(choose_kernels(std::move(apart), chip_, known_, false, unseen), chip_);
    }

    /// To and from memory, each operand once.
    double bytes_of(std::size_t first, const found_chain& f) const {
        double bytes = 0;
        std::set<std::int32_t> met, written;
        for (auto n = first; n <= f.last; ++n)
            for (std::size_t o = 0; o < at(n).operands.size(); ++o) {
                const auto& operand = at(n).operands[o];
                if (f.own.count(operand.source) > 0) continue;
                const bool writes = writes_operand(at(n), o), both = writes && reads_operand(at(n), o);
                if (writes ? !written.insert(operand.source).second
                           : written.count(operand.source) > 0 || !met.insert(operand.source).second)
                    continue;
                bytes += (both ? 2 : 1) * static_cast<double>(most_elements(at(n), operand)) *
                         static_cast<double>(size_of(operand.type));
            }
        return bytes;
    }

    void take(std::size_t first, found_chain& f) {
        const auto number = static_cast<std::int32_t>(plan_.chains.size());
        for (auto n = first; n <= f.last; ++n) {
            auto& st = plan_.steps[n];
            st.chain = number;
            st.kernel = family::chain, st.shape = form::chain;
            st.batched = tile_of(f.made), st.origin = f.origin;
        }
        const auto& c = f.made;
        double kept = 0;
        for (const auto source : f.own) {
            const auto& t = plan_.temporaries[static_cast<std::size_t>(-1 - source)];
            kept += 2 * static_cast<double>(t.elements) * static_cast<double>(size_of(t.type));
        }
        plan_.notes.push_back(
            fmt::format("steps {} to {} are one kernel over {}, {} phase{}: {:.4g} MB moved instead of {:.4g}",
                        first + 1, f.last + 1, c.axis, c.phases.size(), c.phases.size() == 1 ? "" : "s",
                        c.bytes * static_cast<double>(c.elements) / 1e6,
                        (c.bytes * static_cast<double>(c.elements) + kept) / 1e6));
        if (chip_.kind == target::cpu) find_additions(f.made, plan_, first, f.last + 1);
        if (const auto count = f.made.additions.size(); count > 0 && chip_.processors == 1)
            plan_.notes.push_back(fmt::format("one thread alone does step{} with them, element by element",
                                              count == 1
                                                  ? fmt::format(" {}", f.last + 2)
                                                  : fmt::format("s {} to {}", f.last + 2, f.last + 1 + count)));
        plan_.chains.push_back(std::move(f.made));
    }

    plan& plan_;
    const machine& chip_;
    const priors& known_;

    struct cut {
        std::size_t last; ///< step of the shortest run that is longer than the chain, and is none
        std::string why;
    };
    std::optional<cut> cut_;
    std::string why_; ///< the first reason, of the run that is looked at
};

} // namespace

plan fuse_statements(plan p, const machine& chip, const priors& known) {
    if (chip.has_compiler) fuser(p, chip, known).run();
    return p;
}

} // namespace ricci::lowering
