// order_operands: splits products of many operands into pairs, and sums of products into one step each.
#include "lowering/order_operands.hpp"

#include "lowering/blocked_product.hpp"
#include "lowering/contraction_order.hpp"
#include "lowering/find_symmetry.hpp"
#include "lowering/gathers.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

namespace ricci::lowering {
namespace {

/// Sums shorter than this stay inside their kernel: a step of their own would cost more than it saves, where it is a
/// kernel of its own, and where it is likely to become a phase of a GPU's chain.
constexpr std::int64_t shortest_own_sum = 8, shortest_in_chains = 6;

/// The extent at which products with a batch are ordered, and how much that order may lose at the extent there is: so
/// many times the least flops; or so many times the seconds, if those are more than a compile is worth.
constexpr double long_batch = 1 << 20, most_extra_flops = 2, most_extra_time = 3, least_loss = 5e-3;

/// Of a step whose product keeps the axes `whole`.
mirrored_axes mirrored_in(const step& st, const label_set& whole, const machine& chip) {
    mirrored_axes out;
    out.whole = whole;
    for (std::size_t a = 0; a < st.axes.size(); ++a)
        if (st.axes[a].mirrored) (out.first < 0 ? out.first : out.second) = static_cast<int>(a);
    if (out.first >= 0)
        out.share = share_of_symmetric(st.axes[static_cast<std::size_t>(out.first)].extent, st.compute, chip);
    return out;
}

class operand_orderer {
  public:
    operand_orderer(plan& p, step st, const machine& chip, bool in_program)
        : plan_(p), chip_(chip), in_program_(in_program), in_chain_(in_program && chip.kind == target::cuda),
          step_(std::move(st)) {}

    /// The steps that replace the one given.
    std::vector<step> run() {
        source_ = std::move(step_.nodes);
        step_.nodes.clear();
        const auto root = rewrite(static_cast<std::int32_t>(source_.size()) - 1);
        split(root);
        return std::move(before_);
    }

  private:
    std::int32_t emit(operation kind, std::int32_t a, std::int32_t b = -1) {
        step_.nodes.push_back({kind, a, b});
        return static_cast<std::int32_t>(step_.nodes.size()) - 1;
    }

    std::int32_t rewrite(std::int32_t n) {
        const auto source = source_[static_cast<std::size_t>(n)];
        if (arity(source.kind) == 0) return emit(source.kind, source.a);
        if (source.kind == operation::sum) return rewrite_sum(source);
        const auto a = rewrite(source.a);
        return emit(source.kind, a, arity(source.kind) == 2 ? rewrite(source.b) : -1);
    }

    std::int32_t rewrite_sum(const node& sum) {
        std::vector<std::int32_t> factors;
        flatten(sum.a, factors);
        const auto whole = [&] {
            auto product = factors[0];
            for (std::size_t f = 1; f < factors.size(); ++f) product = emit(operation::multiply, product, factors[f]);
            return emit(operation::sum, product, sum.b);
        };
        if (factors.size() < 2) return whole();
        for (auto& f : factors)
            if (is_recomputed(f, factors)) f = make_intermediate(extract(f));

        std::vector<label_set> labels;
        label_set together;
        for (const auto f : factors) labels.push_back(free_axes(f)), together |= labels.back();
        label_set summed;
        for (const auto a : step_.sums[static_cast<std::size_t>(sum.b)]) summed.set(static_cast<std::size_t>(a));
        // As they are, and with a long batch: of several axes that may change the longest is that, a short one more
        // likely the components of a vector.
        std::vector<double> extents, many;
        std::int64_t longest = -1;
        for (std::size_t a = 0; a < step_.axes.size(); ++a)
            if (step_.axes[a].variable && together[a]) longest = std::max(longest, step_.axes[a].extent);
        const bool batched = longest >= 0;
        for (std::size_t a = 0; a < step_.axes.size(); ++a) {
            const auto& axis = step_.axes[a];
            extents.push_back(static_cast<double>(axis.extent));
            many.push_back(axis.variable && together[a] && axis.extent == longest ? long_batch : extents.back());
        }
        const auto bytes = static_cast<double>(size_of(step_.compute));
        const auto kept = together & ~summed;
        const auto mirrored = mirrored_in(step_, kept, chip_);
        std::optional<neighbor_axes> neighbors; // on a CPU the elements of a vector are neighbors
        if (chip_.kind == target::cuda) neighbors = neighbors_of(factors);
        const auto best_order = [&](const std::vector<double>& sizes) {
            auto best = contraction_order(labels, kept, sizes, bytes, mirrored);
            return neighbors ? along_other_axes(best, labels, kept, sizes, bytes, mirrored, *neighbors) : best;
        };
        const auto order = best_order(extents);
        const auto new_steps = static_cast<double>(order.pairs.size()) - 1;
        if (new_steps < 1) return whole();
        if (batched) {
            // What is best for a long batch is taken for all, so that another batch needs no other kernels; unless it
            // loses much.
            const auto usual = best_order(many);
            const auto here = at_extents(usual, labels, extents, bytes, mirrored);
            if (!loses_much(here, order)) {
                if (usual.flops >= at_once(together, many, factors.size())) return whole();
                return contract(factors, here, sum.b);
            }
        }
        if (order.flops + new_steps * chip_.launch_seconds * peak_flops() >=
            at_once(together, extents, factors.size()))
            return whole();
        return contract(factors, order, sum.b);
    }

    double peak_flops() const { return is_double(step_.compute) ? chip_.flops_f64 : chip_.flops_f32; }

    bool loses_much(const pair_order& order, const pair_order& best) const {
        const auto seconds = [&](const pair_order& o) {
            return std::max(o.flops / peak_flops(), o.bytes / chip_.bandwidth);
        };
        return order.flops > most_extra_flops * best.flops ||
               (seconds(order) > most_extra_time * seconds(best) && seconds(order) - seconds(best) > least_loss);
    }

    static double at_once(const label_set& axes, const std::vector<double>& extents, std::size_t factors) {
        return static_cast<double>(factors) * size_of(axes, extents);
    }

    /// Whether a factor holds a sum that would be evaluated again for every value of an axis that only other factors
    /// have.
    bool is_recomputed(std::int32_t factor, const std::vector<std::int32_t>& factors) const {
        if (!holds_sum(factor)) return false;
        const auto own = free_axes(factor);
        return std::any_of(factors.begin(), factors.end(),
                           [&](std::int32_t f) { return (free_axes(f) & ~own).any(); });
    }

    bool holds_sum(std::int32_t n) const {
        const auto& here = step_.nodes[static_cast<std::size_t>(n)];
        return here.kind == operation::sum || (arity(here.kind) >= 1 && holds_sum(here.a)) ||
               (arity(here.kind) == 2 && holds_sum(here.b));
    }

    static bool is_double(scalar_type t) { return real_of(t) == scalar_type::f64; }

    void flatten(std::int32_t n, std::vector<std::int32_t>& factors) {
        const auto source = source_[static_cast<std::size_t>(n)];
        if (source.kind == operation::multiply) {
            flatten(source.a, factors);
            flatten(source.b, factors);
        } else {
            factors.push_back(rewrite(n));
        }
    }

    neighbor_axes neighbors_of(const std::vector<std::int32_t>& factors) const {
        neighbor_axes out{{}, neighbor_axis(step_.operands[0])};
        for (const auto f : factors)
            out.factors.push_back(neighbor_axis(f)), out.by_stride.push_back(axes_by_stride(f));
        return out;
    }

    /// Of what a table finds the table's: numbers of neighbors are mostly near each other.
    int neighbor_axis(const operand& o) const {
        for (std::size_t a = 0; a < o.present.size(); ++a)
            if (o.present[a] && std::abs(o.stride[a]) == 1) return static_cast<int>(a);
        for (const auto& g : o.gathers)
            if (g.stride == 1) return neighbor_axis(step_.operands[static_cast<std::size_t>(g.table)]);
        return -1;
    }

    std::vector<int> axes_by_stride(std::int32_t factor) const {
        const auto& here = step_.nodes[static_cast<std::size_t>(factor)];
        std::vector<int> out;
        if (here.kind != operation::access) return out;
        const auto& o = step_.operands[static_cast<std::size_t>(here.a)];
        for (std::size_t a = 0; a < o.present.size(); ++a)
            if (o.present[a]) out.push_back(static_cast<int>(a));
        std::ranges::sort(out, {}, [&](int a) { return std::abs(o.stride[static_cast<std::size_t>(a)]); });
        return out;
    }

    int neighbor_axis(std::int32_t factor) const {
        const auto& here = step_.nodes[static_cast<std::size_t>(factor)];
        return here.kind == operation::access ? neighbor_axis(step_.operands[static_cast<std::size_t>(here.a)]) : -1;
    }

    label_set free_axes(std::int32_t n) const {
        const auto& here = step_.nodes[static_cast<std::size_t>(n)];
        label_set out;
        if (here.kind == operation::access) {
            const auto& present = step_.operands[static_cast<std::size_t>(here.a)].present;
            for (std::size_t a = 0; a < present.size(); ++a)
                if (present[a]) out.set(a);
            return out;
        }
        if (arity(here.kind) >= 1) out |= free_axes(here.a);
        if (arity(here.kind) == 2) out |= free_axes(here.b);
        if (here.kind == operation::sum)
            for (const auto a : step_.sums[static_cast<std::size_t>(here.b)]) out.reset(static_cast<std::size_t>(a));
        return out;
    }

    /// The factors contracted in the order given; all pairs but the last become steps.
    std::int32_t contract(std::vector<std::int32_t> items, const pair_order& order, std::int32_t list) {
        for (std::size_t p = 0; p < order.pairs.size(); ++p) {
            const auto& pair = order.pairs[p];
            const auto left = items[static_cast<std::size_t>(pair.left)];
            const auto product =
                pair.right < 0 ? left : emit(operation::multiply, left, items[static_cast<std::size_t>(pair.right)]);
            auto summed = free_axes(left);
            if (pair.right >= 0) summed |= free_axes(items[static_cast<std::size_t>(pair.right)]);
            summed &= ~pair.result;
            std::vector<std::int32_t> axes;
            for (const auto a : step_.sums[static_cast<std::size_t>(list)])
                if (summed[static_cast<std::size_t>(a)]) axes.push_back(a);
            auto value = product;
            if (!axes.empty()) {
                step_.sums.push_back(std::move(axes));
                value = emit(operation::sum, product, static_cast<std::int32_t>(step_.sums.size()) - 1);
            }
            items.push_back(p + 1 == order.pairs.size() ? value : make_intermediate(value));
        }
        plan_.notes.push_back(fmt::format("a product of {} operands in {} steps, {:.3g} flop", order.leaves,
                                          order.pairs.size(), order.flops));
        return items.back();
    }

    /// A step that evaluates the tree at `n` into a temporary; returns an access to it.
    std::int32_t make_intermediate(std::int32_t n) {
        const auto axes = free_axes(n);
        std::vector<char> present(step_.axes.size(), 0);
        for (std::size_t a = 0; a < present.size(); ++a) present[a] = axes[a];
        std::vector<operand> like;
        for (const auto& o : step_.operands) like.push_back(nominal(step_, o));
        auto memory = add_temporary(plan_, step_.axes, present, step_.compute, like);
        auto made = make_step(memory, assignment::assign, n);
        forget_symmetry(made); // that of the whole product
        before_.push_back(std::move(made));
        step_.operands.push_back(std::move(memory));
        return emit(operation::access, static_cast<std::int32_t>(step_.operands.size()) - 1);
    }

    step make_step(const operand& target, assignment op, std::int32_t root) const {
        step out = step_;
        out.op = op;
        out.operands[0] = target;
        out.nodes = subtree(step_.nodes, root);
        prune(out);
        return out;
    }

    bool deserves_a_step(std::int32_t n) const {
        matrix_product product;
        if (!is_matrix_product(step_.nodes, n, product) || product.y < 0 || product.sum < 0) return false;
        if (is_left(product.x) || is_left(product.y)) return false;
        std::vector<char> summed(step_.axes.size(), 0);
        for (const auto a : step_.sums[static_cast<std::size_t>(product.sum)])
            summed[static_cast<std::size_t>(a)] = 1;
        return element_count(step_.axes, summed) >= (in_chain_ ? shortest_in_chains : shortest_own_sum);
    }

    /// Makes one step of C = beta*C + a product, in either order; the element that C holds is rounded once then, and
    /// read once. Not of a program's, in whose chains the two are phases like others.
    bool scales_left(const std::vector<signed_term>& terms) {
        if (in_program_ || step_.op != assignment::assign || terms.size() != 2 || !before_.empty() ||
            !step_.operands[0].gathers.empty())
            return false;
        for (const auto& [left, right] : {std::pair(terms[0], terms[1]), std::pair(terms[1], terms[0])}) {
            matrix_product kept, added;
            if (!is_matrix_product(step_.nodes, left.node, kept) || kept.coefficient < 0 || kept.y >= 0 ||
                kept.sum >= 0 || kept.x_conjugated || !is_left(kept.x) ||
                !is_matrix_product(step_.nodes, right.node, added) || added.y < 0 || added.sum < 0 ||
                is_left(added.x) || is_left(added.y))
                continue;
            auto beta = subtree(step_.nodes, kept.coefficient);
            if (kept.negative != left.negative)
                beta.push_back({operation::negate, static_cast<std::int32_t>(beta.size()) - 1});
            finish(step_.operands[0], assignment::add,
                   right.negative ? emit(operation::negate, right.node) : right.node);
            before_.back().beta = std::move(beta);
            return true;
        }
        return false;
    }

    /// The element that is written is read by what writes it.
    bool is_left(std::int32_t o) const { return step_.operands[static_cast<std::size_t>(o)].in_place; }

    /// Gives the matrix products among the root's terms, and those inside functions, steps of their own.
    void split(std::int32_t root) {
        const auto terms = terms_of(step_.nodes, root);
        const bool alone = terms.size() == 1 && deserves_a_step(root);
        if (alone) return finish(step_.operands[0], step_.op, root);
        if (scales_left(terms)) return;
        // Several steps may add to the left only where that does not round more often than once.
        const bool accumulates = step_.operands[0].type == step_.compute;
        std::vector<signed_term> own, rest;
        for (const auto& t : terms) (accumulates && deserves_a_step(t.node) ? own : rest).push_back(t);
        auto op = step_.op;
        if (!rest.empty()) {
            std::int32_t tree = -1;
            for (const auto& t : rest) {
                const auto value = extract(t.node);
                if (tree < 0) tree = t.negative ? emit(operation::negate, value) : value;
                else tree = emit(t.negative ? operation::subtract : operation::add, tree, value);
            }
            finish(step_.operands[0], op, tree);
            if (op == assignment::assign) op = assignment::add;
        }
        // Of a chain the last phase goes along the first term's index: what comes next often begins with it.
        if (in_chain_) std::reverse(own.begin(), own.end());
        for (const auto& t : own) {
            const auto value = t.negative ? emit(operation::negate, t.node) : t.node;
            finish(step_.operands[0], op, value);
            if (op == assignment::assign) op = assignment::add;
        }
    }

    /// The tree at `n` with its matrix products replaced by intermediates.
    std::int32_t extract(std::int32_t n) {
        if (deserves_a_step(n)) return make_intermediate(n);
        const auto here = step_.nodes[static_cast<std::size_t>(n)];
        if (arity(here.kind) == 0 || here.kind == operation::sum) return n;
        const auto a = extract(here.a);
        const auto b = arity(here.kind) == 2 ? extract(here.b) : here.b;
        return a == here.a && b == here.b ? n : emit(here.kind, a, b);
    }

    void finish(const operand& target, assignment op, std::int32_t root) {
        before_.push_back(make_step(target, op, root));
    }

    plan& plan_;
    const machine& chip_;
    bool in_program_;
    bool in_chain_; ///< likely
    step step_;
    std::vector<node> source_;
    std::vector<step> before_;
};

} // namespace

plan order_operands(plan p, const machine& chip, bool in_program) {
    std::vector<step> steps;
    for (auto& st : p.steps)
        for (auto& made : operand_orderer(p, std::move(st), chip, in_program).run()) steps.push_back(std::move(made));
    p.steps = std::move(steps);
    return p;
}

} // namespace ricci::lowering
