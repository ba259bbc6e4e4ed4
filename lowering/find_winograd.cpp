// find_winograd: which statements of a program are a convolution by minimal filtering.
#include "lowering/find_winograd.hpp"

#include "lowering/check_overlap.hpp"
#include "lowering/fix_indices.hpp"
#include "lowering/gathers.hpp"
#include "lowering/scope_sums.hpp"
#include "lowering/sm_limits.hpp"
#include "lowering/winograd_layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace ricci::lowering {
namespace {

constexpr std::int64_t longest_side = 8;                     ///< of a transform's matrix
constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max() - 64; ///< that the kernel counts to

/// A sum over products of accesses.
struct product_sum {
    std::int32_t node = -1;
    std::vector<std::int32_t> axes, operands;
};

bool collect_factors(const std::vector<node>& nodes, std::int32_t root, std::vector<std::int32_t>& operands) {
    const auto& n = nodes[static_cast<std::size_t>(root)];
    if (n.kind == operation::access) operands.push_back(n.a);
    else if (n.kind != operation::multiply) return false;
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

/// A transform's matrix: an operand over one summed axis and one of the output.
struct transform_matrix {
    std::int32_t operand = 0;
    std::int32_t summed = 0, kept = 0; ///< axes
};

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
            other[static_cast<std::size_t>(here.kept)] || !st.operands[0].present[static_cast<std::size_t>(here.kept)])
            return {};
        out.push_back(here);
    }
    const bool known = out.size() == sum.axes.size() && !out.empty() && out.size() <= 2;
    if (!known || (out.size() == 2 && (out[0].summed == out[1].summed || out[0].kept == out[1].kept))) return {};
    return out;
}

class winograd_finder {
  public:
    winograd_finder(const std::vector<statement>& statements, const std::vector<std::int32_t>& locals,
                    const shared_memory_of_accesses& shared, const machine& chip)
        : statements_(statements), locals_(locals), shared_(shared), chip_(chip) {
        std::size_t first = 0;
        for (const auto& s : statements) {
            first_.push_back(first);
            for (std::size_t a = 0; a < s.accesses.size(); ++a)
                if (const auto local = locals[first + a]; local != no_local)
                    uses_[local].push_back({first_.size() - 1, a});
            first += s.accesses.size();
        }
    }

    std::vector<found_winograd> run() const {
        std::vector<found_winograd> out;
        for (std::size_t n = 0; n < statements_.size(); ++n)
            if (auto found = ending_in(n)) out.push_back(*std::move(found));
        return out;
    }

  private:
    struct use {
        std::size_t statement, access;
    };

    /// Where the local is written that an access reads, if nothing else does either.
    std::optional<std::size_t> writer(std::size_t statement, std::size_t access) const {
        const auto local = locals_[first_[statement] + access];
        if (access == 0 || local == no_local) return {};
        const auto& uses = uses_.at(local);
        if (uses.size() != 2 || uses[0].access != 0 || uses[0].statement >= statement) return {};
        return uses[0].statement;
    }

    std::optional<found_winograd> ending_in(std::size_t outputs) const {
        const auto& s = statements_[outputs];
        for (std::size_t m = 1; m < s.accesses.size(); ++m) {
            const auto product = writer(outputs, m);
            if (!product || statements_[*product].accesses.size() != 3) continue;
            for (std::size_t v = 1; v < 3; ++v)
                if (const auto inputs = writer(*product, v)) return match({*inputs, 0}, {*product, v}, {outputs, m});
        }
        return {};
    }

    /// A statement as one step in f32, all its axes as they were.
    std::optional<step> step_of(std::size_t number) const {
        const auto& s = statements_[number];
        auto p = fix_indices(s);
        const auto labels = p.steps.front().axes.size();
        p = check_overlap(scope_sums(std::move(p), s), s);
        if (p.steps.size() != 1 || !p.temporaries.empty() || !p.checks.empty()) return {};
        auto& st = p.steps.front();
        const bool overlaps = std::any_of(st.operands.begin(), st.operands.end(), [](const operand& o) {
            return o.overlaps || !o.gathers.empty();
        });
        const bool is_empty =
            std::any_of(st.axes.begin(), st.axes.end(), [](const axis& a) { return a.extent < 1 || a.extent > longest; });
        if (st.compute != scalar_type::f32 || st.axes.size() != labels || overlaps || is_empty) return {};
        return std::move(st);
    }

    /// The axes by which an access goes through a local, one a dimension and all of it.
    std::optional<std::vector<std::int32_t>> dimensions(const use& of) const {
        const auto& s = statements_[of.statement];
        const auto& a = s.accesses[of.access];
        std::vector<std::int32_t> out;
        for (int p = 0; p < a.position_count; ++p) {
            const auto& at = position_of(s, a, p);
            if (at.is_gathered() || at.term_count != 1 || at.offset != 0) return {};
            const auto& term = s.terms[static_cast<std::size_t>(at.first_term)];
            const auto& label = s.labels[static_cast<std::size_t>(term.label)];
            const bool is_all = !label.has_range() || (label.begin == 0 && label.end == at.extent);
            if (term.coefficient != 1 || !is_all || std::find(out.begin(), out.end(), term.label) != out.end())
                return {};
            out.push_back(term.label);
        }
        return out;
    }

    std::int32_t memory(std::size_t statement, std::size_t access) const {
        return shared_.memory[first_[statement] + access];
    }

    /// Whether statements up to `last`, behind `first`, write what access `of` reads, but for one statement.
    bool is_overwritten(const use& of, std::size_t last, std::size_t but) const {
        for (auto n = of.statement + 1; n <= last; ++n)
            if (n != but && memory(n, 0) == memory(of.statement, of.access)) return true;
        return false;
    }

    std::optional<found_winograd> match(const use& written, const use& v, const use& m) const {
        const auto of_v = step_of(written.statement), of_m = step_of(v.statement), of_o = step_of(m.statement);
        if (!of_v || !of_m || !of_o || of_v->op != assignment::assign || of_m->op != assignment::assign) return {};
        const auto inputs = only_sum(*of_v), channels = only_sum(*of_m), points = only_sum(*of_o);
        if (!inputs || !channels || !points || root(*of_v) != inputs->node || root(*of_m) != channels->node) return {};
        if (channels->operands.size() != 2 || channels->axes.size() != 1) return {};

        // Which factor is which.
        const auto u_operand = v.access == 1 ? std::int32_t{2} : std::int32_t{1};
        const auto m_operand = static_cast<std::int32_t>(m.access);
        if (std::count(points->operands.begin(), points->operands.end(), m_operand) != 1) return {};
        auto d_operand = inputs->operands.front();
        for (const auto o : inputs->operands)
            if (axes_in(*of_v, o) > axes_in(*of_v, d_operand)) d_operand = o;
        auto before = transforms_of(*of_v, *inputs, d_operand), behind = transforms_of(*of_o, *points, m_operand);
        if (before.empty() || before.size() != behind.size()) return {};
        const auto &v_local = of_m->operands[v.access], &m_local = of_o->operands[m.access];
        const auto& u = of_m->operands[static_cast<std::size_t>(u_operand)];
        if (v_local.type != u.type || m_local.type != scalar_type::f32 || !u.bounds.empty() ||
            real_of(u.type) == scalar_type::f64)
            return {};

        // The locals' dimensions say which axes of two statements are the same.
        const auto v_left = dimensions({written.statement, 0}), v_right = dimensions(v),
                   m_left = dimensions({v.statement, 0}), m_right = dimensions(m);
        if (!v_left || !v_right || !m_left || !m_right) return {};
        const auto same = [](const std::vector<std::int32_t>& here, const std::vector<std::int32_t>& there,
                             std::int32_t axis) {
            const auto found = std::find(here.begin(), here.end(), axis);
            return found == here.end() ? -1 : there[static_cast<std::size_t>(found - here.begin())];
        };
        const auto channel = channels->axes.front();
        if (same(*v_right, *v_left, channel) < 0 || !u.present[static_cast<std::size_t>(channel)]) return {};
        std::vector<std::int32_t> filters, tiles; // of M's statement
        for (const auto a : *m_left) {
            const bool in_u = u.present[static_cast<std::size_t>(a)], in_v = same(*v_right, *v_left, a) >= 0;
            const auto in_inputs = same(*v_right, *v_left, a);
            const bool is_point = std::any_of(before.begin(), before.end(),
                                              [&](const transform_matrix& t) { return t.kept == in_inputs; });
            if (is_point != (in_u && in_v)) return {};
            if (!is_point) (in_u ? filters : tiles).push_back(a);
        }
        if (filters.size() != 1) return {};

        // Directions: the nearest in memory first.
        std::sort(behind.begin(), behind.end(), [&](const transform_matrix& a, const transform_matrix& b) {
            const auto far = [&](const transform_matrix& t) {
                return std::abs(of_o->operands[0].stride[static_cast<std::size_t>(t.kept)]);
            };
            return far(a) < far(b);
        });
        std::vector<transform_matrix> matched;
        for (const auto& t : behind) {
            const auto point = same(*v_right, *v_left, same(*m_right, *m_left, t.summed));
            const auto found = std::find_if(before.begin(), before.end(),
                                            [&](const transform_matrix& b) { return b.kept == point; });
            if (point < 0 || found == before.end()) return {};
            matched.push_back(*found);
        }

        // The axes of the whole, by those of the three statements.
        const auto none = std::int32_t{-1};
        std::vector<axis> axes;
        std::vector<std::int32_t> from_v(of_v->axes.size(), none), from_m(of_m->axes.size(), none),
            from_o(of_o->axes.size(), none);
        const auto add = [&](const step& st, std::vector<std::int32_t>& from, std::int32_t a) {
            from[static_cast<std::size_t>(a)] = static_cast<std::int32_t>(axes.size());
            axes.push_back({st.axes[static_cast<std::size_t>(a)].name, st.axes[static_cast<std::size_t>(a)].extent});
        };
        for (const auto& t : behind) add(*of_o, from_o, t.kept);
        std::sort(tiles.begin(), tiles.end(), [&](std::int32_t a, std::int32_t b) {
            const auto far = [&](std::int32_t of_product) {
                const auto axis = static_cast<std::size_t>(same(*m_left, *m_right, of_product));
                return std::abs(of_o->operands[0].stride[axis]);
            };
            return far(a) < far(b);
        });
        std::int64_t tile_count = 1;
        for (const auto a : tiles) {
            from_m[static_cast<std::size_t>(a)] = static_cast<std::int32_t>(axes.size());
            from_v[static_cast<std::size_t>(same(*v_right, *v_left, a))] = static_cast<std::int32_t>(axes.size());
            add(*of_o, from_o, same(*m_left, *m_right, a));
            if (__builtin_mul_overflow(tile_count, axes.back().extent, &tile_count) || tile_count > longest) return {};
        }
        from_m[static_cast<std::size_t>(filters.front())] = static_cast<std::int32_t>(axes.size());
        add(*of_o, from_o, same(*m_left, *m_right, filters.front()));
        for (std::size_t d = 0; d < behind.size(); ++d) {
            from_v[static_cast<std::size_t>(matched[d].kept)] = static_cast<std::int32_t>(axes.size());
            from_m[static_cast<std::size_t>(same(*m_right, *m_left, behind[d].summed))] =
                static_cast<std::int32_t>(axes.size());
            add(*of_o, from_o, behind[d].summed);
        }
        from_v[static_cast<std::size_t>(same(*v_right, *v_left, channel))] = static_cast<std::int32_t>(axes.size());
        add(*of_m, from_m, channel);
        for (const auto& t : matched) add(*of_v, from_v, t.summed);
        for (const auto* from : {&from_v, &from_m, &from_o})
            if (std::find(from->begin(), from->end(), none) != from->end()) return {};

        // The whole.
        found_winograd out;
        out.inputs = written.statement, out.product = v.statement, out.outputs = m.statement;
        auto& whole = out.convolution;
        whole.op = of_o->op, whole.compute = scalar_type::f32, whole.math = of_m->math;
        whole.axes = axes;
        whole.shape = form::winograd, whole.kernel = family::winograd;
        whole.tile[0] = static_cast<std::int32_t>(behind.size());
        const auto take = [&](const step& st, const std::vector<std::int32_t>& from, std::int32_t o,
                              std::size_t statement) {
            operand x = st.operands[static_cast<std::size_t>(o)];
            const auto moved = [&](const auto& values) {
                std::remove_cvref_t<decltype(values)> there(axes.size(), 0);
                for (std::size_t a = 0; a < values.size(); ++a) there[static_cast<std::size_t>(from[a])] = values[a];
                return there;
            };
            x.stride = moved(x.stride), x.present = moved(x.present);
            for (auto& b : x.bounds) b.coefficient = moved(b.coefficient);
            whole.operands.push_back(std::move(x));
            out.statement_of.push_back(statement);
            return static_cast<std::int32_t>(whole.operands.size()) - 1;
        };
        take(*of_o, from_o, 0, m.statement);
        take(*of_m, from_m, u_operand, v.statement);
        take(*of_v, from_v, d_operand, written.statement);
        for (const auto& t : matched) take(*of_v, from_v, t.operand, written.statement);
        std::map<std::int32_t, std::int32_t> number; // of O's statement
        for (const auto& t : behind) number[t.operand] = take(*of_o, from_o, t.operand, m.statement);
        for (std::size_t o = 1; o < of_o->operands.size(); ++o)
            if (const auto here = static_cast<std::int32_t>(o); here != m_operand && !number.contains(here))
                number[here] = take(*of_o, from_o, here, m.statement);
        write_tree(whole, *of_o, *points, number);
        if (!fits(whole)) return {};

        // What the statements read must still be there when the last one runs, and not be what it writes.
        for (std::size_t o = winograd_roles::filters; o < winograd_roles(whole).output_matrix(0); ++o) {
            const use of{out.statement_of[o], static_cast<std::size_t>(whole.operands[o].source)};
            if (is_overwritten(of, m.statement, of.statement == written.statement ? v.statement : m.statement + 1))
                return {};
        }
        const auto tile = choose_winograd_tile(whole, chip_);
        if (!tile) return {};
        whole.batched = *tile;
        return out;
    }

    static std::int32_t root(const step& st) { return static_cast<std::int32_t>(st.nodes.size()) - 1; }

    static std::ptrdiff_t axes_in(const step& st, std::int32_t operand) {
        const auto& present = st.operands[static_cast<std::size_t>(operand)].present;
        return std::count(present.begin(), present.end(), 1);
    }

    /// The last statement's tree, in which M stands for what it is.
    static void write_tree(step& whole, const step& of_o, const product_sum& points,
                           const std::map<std::int32_t, std::int32_t>& number) {
        const winograd_roles at(whole);
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
            for (std::size_t d = 0; d < count; ++d) list.push_back(static_cast<std::int32_t>((at.*role)(d)));
            return emit(operation::sum, product, static_cast<std::int32_t>(whole.sums.size()) - 1);
        };
        const auto convolution = [&] {
            std::int32_t outer = -1, inner = -1;
            for (std::size_t d = 0; d < at.directions; ++d) outer = times(outer, access(at.output_matrix(d)));
            const auto u = access(winograd_roles::filters);
            for (std::size_t d = 0; d < at.directions; ++d) inner = times(inner, access(at.input_matrix(d)));
            inner = sum_over(times(inner, access(winograd_roles::image)), &winograd_roles::input, at.directions);
            whole.sums.push_back({static_cast<std::int32_t>(at.channel())});
            const auto product =
                emit(operation::sum, times(u, inner), static_cast<std::int32_t>(whole.sums.size()) - 1);
            return sum_over(times(outer, product), &winograd_roles::point, at.directions);
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
    static bool fits(const step& st) {
        const winograd_roles at(st);
        for (std::size_t d = 0; d < at.directions; ++d)
            for (const auto axis : {at.output(d), at.point(d), at.input(d)})
                if (st.axes[axis].extent > longest_side) return false;
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
        return is_known(0, at.filter()) && is_known(winograd_roles::image, at.channel());
    }

    const std::vector<statement>& statements_;
    const std::vector<std::int32_t>& locals_;
    const shared_memory_of_accesses& shared_;
    const machine& chip_;
    std::vector<std::size_t> first_; ///< of a statement's accesses, among all
    std::map<std::int32_t, std::vector<use>> uses_;
};

} // namespace

std::vector<found_winograd> find_winograd(const std::vector<statement>& statements,
                                          const std::vector<std::int32_t>& locals,
                                          const shared_memory_of_accesses& shared, const machine& chip) {
    if (chip.kind != target::cuda || !has_bulk_copies(chip) || !chip.has_compiler) return {};
    return winograd_finder(statements, locals, shared, chip).run();
}

} // namespace ricci::lowering
