// winograd_statements: the three statements of a convolution by minimal filtering as one step.
#include "lowering/winograd_statements.hpp"

#include "lowering/winograd_layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

namespace ricci::lowering {
namespace {

constexpr std::int64_t longest_side = 8;                                               ///< of a transform's matrix
constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max() - (1 << 20); ///< that the kernel counts to
constexpr std::int32_t none = -1;

std::size_t at(std::int32_t n) { return static_cast<std::size_t>(n); }

/// A sum over products of accesses.
struct product_sum {
    std::int32_t node = -1;
    std::vector<std::int32_t> axes, operands;
};

bool collect_factors(const std::vector<node>& nodes, std::int32_t root, std::vector<std::int32_t>& operands) {
    const auto& n = nodes[static_cast<std::size_t>(root)];
    if (n.kind == operation::access)
        operands.push_back(n.a);
    else if (n.kind != operation::multiply)
        return false;
    return n.kind == operation::access ||
           (collect_factors(nodes, n.a, operands) && collect_factors(nodes, n.b, operands));
}

/// The only sum of a step, if it is one of products.
std::optional<product_sum> only_sum(const step& st) {
    std::optional<product_sum> out;
    for (std::size_t n = 0; n < st.nodes.size(); ++n) {
        if (st.nodes[n].kind != operation::sum) continue;
        if (out) return {};
        out.emplace(static_cast<std::int32_t>(n), st.sums[static_cast<std::size_t>(st.nodes[n].b)]);
        if (!collect_factors(st.nodes, st.nodes[n].a, out->operands)) return {};
    }
    return out;
}

/// The transforms of a sum whose other factor is `transformed`; none where they are no such: one or two.
std::vector<transform_matrix> transforms_of(const step& st, const product_sum& sum, std::int32_t transformed) {
    std::vector<transform_matrix> out;
    for (const auto o : sum.operands) {
        if (o == transformed) continue;
        const auto& x = st.operands[static_cast<std::size_t>(o)];
        transform_matrix here{o, -1, -1};
        for (std::size_t a = 0; a < st.axes.size(); ++a) {
            if (!x.present[a]) continue;
            const auto axis = static_cast<std::int32_t>(a);
            const bool summed = std::find(sum.axes.begin(), sum.axes.end(), axis) != sum.axes.end();
            auto& role = summed ? here.summed : here.kept;
            if (role >= 0) return {};
            role = axis;
        }
        const auto& other = st.operands[static_cast<std::size_t>(transformed)].present;
        if (here.summed < 0 || here.kept < 0 || !x.bounds.empty() || !other[static_cast<std::size_t>(here.summed)] ||
            other[static_cast<std::size_t>(here.kept)] ||
            !st.operands[0].present[static_cast<std::size_t>(here.kept)])
            return {};
        out.push_back(here);
    }
    const bool known = out.size() == sum.axes.size() && !out.empty() && out.size() <= 2;
    if (!known || (out.size() == 2 && (out[0].summed == out[1].summed || out[0].kept == out[1].kept))) return {};
    return out;
}

/// The last statement's tree, in which M stands for what it is.
void write_tree(step& whole, const step& of_o, const product_sum& points,
                const std::map<std::int32_t, std::int32_t>& number) {
    const winograd_roles roles(whole);
    const auto emit = [&](operation kind, std::int32_t a, std::int32_t b = -1) {
        whole.nodes.push_back({kind, a, b});
        return static_cast<std::int32_t>(whole.nodes.size()) - 1;
    };
    const auto times = [&](std::int32_t product, std::int32_t factor) {
        return product < 0 ? factor : emit(operation::multiply, product, factor);
    };
    const auto access = [&](std::size_t o) { return emit(operation::access, static_cast<std::int32_t>(o)); };
    const auto sum_over = [&](std::int32_t product, auto role, std::size_t count) {
        auto& list = whole.sums.emplace_back();
        for (std::size_t d = 0; d < count; ++d) list.push_back(static_cast<std::int32_t>((roles.*role)(d)));
        return emit(operation::sum, product, static_cast<std::int32_t>(whole.sums.size()) - 1);
    };
    const auto convolution = [&] {
        std::int32_t outer = -1, inner = -1;
        for (std::size_t d = 0; d < roles.directions; ++d) outer = times(outer, access(roles.output_matrix(d)));
        const auto u = access(winograd_roles::filters);
        for (std::size_t d = 0; d < roles.directions; ++d) inner = times(inner, access(roles.input_matrix(d)));
        inner = sum_over(times(inner, access(winograd_roles::image)), &winograd_roles::input, roles.directions);
        whole.sums.push_back({static_cast<std::int32_t>(roles.channel())});
        const auto product = emit(operation::sum, times(u, inner), static_cast<std::int32_t>(whole.sums.size()) - 1);
        return sum_over(times(outer, product), &winograd_roles::point, roles.directions);
    };
    std::vector<char> inside(of_o.nodes.size(), 0); // of the sum
    inside[static_cast<std::size_t>(of_o.nodes[static_cast<std::size_t>(points.node)].a)] = 1;
    for (auto n = of_o.nodes.size(); n-- > 0;) {
        if (!inside[n]) continue;
        const auto& here = of_o.nodes[n];
        if (arity(here.kind) >= 1) inside[static_cast<std::size_t>(here.a)] = 1;
        if (arity(here.kind) == 2) inside[static_cast<std::size_t>(here.b)] = 1;
    }
    std::vector<std::int32_t> moved(of_o.nodes.size(), -1);
    for (std::size_t n = 0; n < of_o.nodes.size(); ++n) {
        if (inside[n]) continue;
        auto here = of_o.nodes[n];
        if (static_cast<std::int32_t>(n) == points.node) {
            moved[n] = convolution();
            continue;
        }
        if (here.kind == operation::access) here.a = number.at(here.a);
        if (arity(here.kind) >= 1) here.a = moved[static_cast<std::size_t>(here.a)];
        if (arity(here.kind) == 2) here.b = moved[static_cast<std::size_t>(here.b)];
        moved[n] = emit(here.kind, here.a, here.b);
    }
}

/// What the kernel's arrays, bits and 32-bit numbers hold.
bool fits(const step& st) {
    const winograd_roles roles(st);
    for (std::size_t d = 0; d < roles.directions; ++d)
        for (const auto axis : {roles.output(d), roles.point(d), roles.input(d)})
            if (st.axes[axis].extent > longest_side) return false;
    if (std::any_of(st.axes.begin(), st.axes.end(), [](const axis& a) { return a.extent > longest; })) return false;
    const auto is_known = [&](std::size_t o, std::size_t unbounded) {
        return std::all_of(st.operands[o].bounds.begin(), st.operands[o].bounds.end(), [&](const bound& b) {
            std::int64_t reach = std::abs(b.offset);
            for (std::size_t a = 0; a < st.axes.size(); ++a) {
                std::int64_t here = 0;
                if (__builtin_mul_overflow(std::abs(b.coefficient[a]), st.axes[a].extent, &here) ||
                    __builtin_add_overflow(reach, here, &reach))
                    return false;
            }
            return b.coefficient[unbounded] == 0 && reach < longest && b.extent < longest;
        });
    };
    return is_known(0, roles.filter()) && is_known(winograd_roles::image, roles.channel());
}

/// The axis of another statement that goes through a local as `axis` of this one does.
std::int32_t same(const std::vector<std::int32_t>& here, const std::vector<std::int32_t>& there, std::int32_t axis) {
    const auto found = std::find(here.begin(), here.end(), axis);
    return found == here.end() ? none : there[at(static_cast<std::int32_t>(found - here.begin()))];
}

class joiner {
  public:
    explicit joiner(const winograd_statements& all)
        : all_(all), of_inputs_(all.inputs.axes.size(), none), of_product_(all.product.axes.size(), none),
          of_outputs_(all.outputs.axes.size(), none) {}

    std::optional<winograd_whole> run() {
        if (!find_factors() || !find_sides() || !pair_directions() || !number_axes()) return {};
        take_operands();
        write_tree(out_.convolution, all_.outputs, *points_, number_);
        if (!fits(out_.convolution)) return {};
        out_.structure = {before_, behind_, u_, d_, channel_, filter_, tiles_};
        return std::move(out_);
    }

  private:
    static std::int32_t root(const step& st) { return static_cast<std::int32_t>(st.nodes.size()) - 1; }
    static std::ptrdiff_t axes_in(const step& st, std::int32_t operand) {
        const auto& present = st.operands[at(operand)].present;
        return std::count(present.begin(), present.end(), 1);
    }
    std::int32_t to_inputs(std::int32_t axis) const { return same(all_.v_read, all_.v_written, axis); } ///< of M's
    std::int32_t to_outputs(std::int32_t axis) const { return same(all_.m_written, all_.m_read, axis); }
    std::int64_t distance(std::int32_t axis_of_outputs) const {
        return std::abs(all_.outputs.operands[0].stride[at(axis_of_outputs)]);
    }

    /// Which operand is what.
    bool find_factors() {
        const auto inputs = only_sum(all_.inputs), channels = only_sum(all_.product);
        points_ = only_sum(all_.outputs);
        if (!inputs || !channels || !points_ || root(all_.inputs) != inputs->node ||
            root(all_.product) != channels->node || channels->operands.size() != 2 || channels->axes.size() != 1)
            return false;
        channel_ = channels->axes.front();
        u_ = all_.v == 1 ? 2 : 1;
        const auto m = static_cast<std::int32_t>(all_.m);
        if (std::count(points_->operands.begin(), points_->operands.end(), m) != 1) return false;
        d_ = inputs->operands.front();
        for (const auto o : inputs->operands)
            if (axes_in(all_.inputs, o) > axes_in(all_.inputs, d_)) d_ = o;
        before_ = transforms_of(all_.inputs, *inputs, d_), behind_ = transforms_of(all_.outputs, *points_, m);
        const auto& u = all_.product.operands[at(u_)];
        return !before_.empty() && before_.size() == behind_.size() && u.bounds.empty() &&
               all_.product.operands[all_.v].type == u.type && all_.outputs.operands[all_.m].type == scalar_type::f32;
    }

    /// Of M's axes those of U alone, of V alone, and of both, which must be the points.
    bool find_sides() {
        const auto& u = all_.product.operands[at(u_)];
        if (to_inputs(channel_) < 0 || !u.present[at(channel_)]) return false;
        std::vector<std::int32_t> filters;
        for (const auto a : all_.m_written) {
            const bool in_u = u.present[at(a)];
            const auto of_inputs = to_inputs(a);
            const bool is_point = std::any_of(before_.begin(), before_.end(),
                                              [&](const transform_matrix& t) { return t.kept == of_inputs; });
            if (is_point != (in_u && of_inputs >= 0) || (!in_u && of_inputs < 0)) return false;
            if (!is_point) (in_u ? filters : tiles_).push_back(a);
        }
        if (filters.size() != 1) return false;
        filter_ = filters.front();
        return true;
    }

    /// The matrices of each direction; the direction that is nearest in the output comes first.
    bool pair_directions() {
        std::sort(behind_.begin(), behind_.end(), [&](const transform_matrix& a, const transform_matrix& b) {
            return distance(a.kept) < distance(b.kept);
        });
        std::vector<transform_matrix> paired;
        for (const auto& t : behind_) {
            const auto point = to_inputs(same(all_.m_read, all_.m_written, t.summed));
            const auto found = std::find_if(before_.begin(), before_.end(),
                                            [&](const transform_matrix& b) { return b.kept == point; });
            if (point < 0 || found == before_.end()) return false;
            paired.push_back(*found);
        }
        before_ = std::move(paired);
        return true;
    }

    /// The axes of the whole in winograd_roles' order, and which of them those of the three statements are.
    bool number_axes() {
        auto& axes = out_.convolution.axes;
        const auto add = [&](const step& st, std::int32_t axis) {
            axes.push_back({st.axes[at(axis)].name, st.axes[at(axis)].extent});
            return static_cast<std::int32_t>(axes.size()) - 1;
        };
        const auto add_output = [&](std::int32_t axis) { return of_outputs_[at(axis)] = add(all_.outputs, axis); };
        for (const auto& t : behind_) add_output(t.kept);
        std::sort(tiles_.begin(), tiles_.end(),
                  [&](std::int32_t a, std::int32_t b) { return distance(to_outputs(a)) < distance(to_outputs(b)); });
        std::int64_t count = 1;
        for (const auto a : tiles_) {
            of_inputs_[at(to_inputs(a))] = of_product_[at(a)] = add_output(to_outputs(a));
            if (__builtin_mul_overflow(count, axes.back().extent, &count) || count > longest) return false;
        }
        of_product_[at(filter_)] = add_output(to_outputs(filter_));
        for (std::size_t d = 0; d < behind_.size(); ++d) {
            const auto point = behind_[d].summed;
            of_inputs_[at(before_[d].kept)] = of_product_[at(same(all_.m_read, all_.m_written, point))] =
                add_output(point);
        }
        of_inputs_[at(to_inputs(channel_))] = of_product_[at(channel_)] = add(all_.product, channel_);
        for (const auto& t : before_) of_inputs_[at(t.summed)] = add(all_.inputs, t.summed);
        const auto all_known = [](const std::vector<std::int32_t>& of) {
            return std::find(of.begin(), of.end(), none) == of.end();
        };
        const auto filters = all_.product.axes[at(filter_)].extent;
        return filters <= longest / count && all_known(of_inputs_) && all_known(of_product_) &&
               all_known(of_outputs_);
    }

    void take_operands() {
        auto& st = out_.convolution;
        st.op = all_.outputs.op, st.compute = scalar_type::f32;
        st.math = all_.product.operands[at(u_)].type == scalar_type::f32 ? all_.product.math : math_mode::full;
        st.shape = form::winograd, st.kernel = family::winograd;
        st.tile[0] = static_cast<std::int32_t>(behind_.size());
        take(winograd_part::outputs, 0), take(winograd_part::product, u_), take(winograd_part::inputs, d_);
        for (const auto& t : before_) take(winograd_part::inputs, t.operand);
        for (const auto& t : behind_) number_[t.operand] = take(winograd_part::outputs, t.operand);
        for (std::int32_t o = 1; o < static_cast<std::int32_t>(all_.outputs.operands.size()); ++o)
            if (o != static_cast<std::int32_t>(all_.m) && !number_.contains(o))
                number_[o] = take(winograd_part::outputs, o);
    }

    /// Returns the number of an operand among the whole's.
    std::int32_t take(winograd_part part, std::int32_t number) {
        using enum winograd_part;
        auto& st = out_.convolution;
        const auto& from = part == inputs ? all_.inputs : part == product ? all_.product : all_.outputs;
        const auto& axes = part == inputs ? of_inputs_ : part == product ? of_product_ : of_outputs_;
        const auto moved = [&](const auto& values) {
            std::remove_cvref_t<decltype(values)> there(st.axes.size(), 0);
            for (std::size_t a = 0; a < values.size(); ++a) there[at(axes[a])] = values[a];
            return there;
        };
        operand x = from.operands[at(number)];
        x.stride = moved(x.stride), x.present = moved(x.present);
        for (auto& b : x.bounds) b.coefficient = moved(b.coefficient);
        st.operands.push_back(std::move(x));
        out_.part_of.push_back(part);
        return static_cast<std::int32_t>(st.operands.size()) - 1;
    }

    const winograd_statements& all_;
    winograd_whole out_;
    std::optional<product_sum> points_;
    std::vector<transform_matrix> before_, behind_; ///< of the inputs, of the outputs; by direction
    std::int32_t u_ = none, d_ = none, channel_ = none, filter_ = none;
    std::vector<std::int32_t> tiles_;                               ///< of M's axes
    std::vector<std::int32_t> of_inputs_, of_product_, of_outputs_; ///< the whole's axes, by the statements'
    std::map<std::int32_t, std::int32_t> number_; ///< of the whole's operands, by the last statement's
};

} // namespace

std::optional<winograd_whole> as_one_step(const winograd_statements& all) { return joiner(all).run(); }

} // namespace ricci::lowering
