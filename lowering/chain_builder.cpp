// chain_builder: makes the phases of a chain from steps of a plan.
#include "lowering/chain_builder.hpp"

#include "lowering/chain_locals.hpp"
#include "lowering/gathers.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ricci::lowering {
namespace {

/// A pencil lies in a thread's registers; a sum that is none is written out term by term.
constexpr std::int64_t longest_pencil = 64, longest_pencils = 128, most_terms = 32;
/// Of one element: of a temporary; of the values of all axes of a step together.
constexpr std::int64_t most_numbers = 1 << 16, most_work = 1 << 22;
/// Of a phase: they are unrolled.
constexpr std::size_t most_ops = 384;

/// Why a step is no part of a chain; caught by chain_builder::add.
struct no_chain {
    std::string why;
};

using places = std::vector<axis_place>; ///< one for each axis of a step

bool is(const axis_place& p, axis_place::kind k) { return p.where == k; }

/// A sum over X*Y, of which the one has items and the other is a row for each point.
struct contraction {
    std::int32_t pencil = -1, matrix = -1; ///< operands
    bool pencil_conjugated = false, matrix_conjugated = false;
    std::vector<std::int32_t> summed;
};

} // namespace

class chain_builder::state {
  public:
    state(const plan& p, std::string_view axis, const std::set<std::int32_t>& own, bool pads_slots)
        : plan_(p), own_(own), pads_slots_(pads_slots) {
        out_.axis = axis;
    }

    void add(const step& given) {
        step_ = &given;
        element_ = element_axis();
        take_compute();
        check_operands();
        meet_locals();
        places here;
        if (!out_.phases.empty()) {
            const auto before = *this;
            try {
                if (adds_rows(here) || appends(here)) return;
            } catch (const no_chain&) { // a phase of its own may do
            }
            take_back(before);
        }
        start_phase(here);
    }

    chain finish() && {
        count_work();
        return std::move(out_);
    }

  private:
    using what = chain_op::what;
    using kind = axis_place::kind;

    // ---- the step ----

    const step& st() const { return *step_; }
    const operand& at(std::int32_t o) const { return step_->operands[static_cast<std::size_t>(o)]; }
    std::int64_t extent(std::size_t a) const { return step_->axes[a].extent; }
    std::size_t axis_count() const { return step_->axes.size(); }

    std::size_t element_axis() const {
        for (std::size_t a = 0; a < axis_count(); ++a)
            if (st().axes[a].name == out_.axis) {
                if (!at(0).present[a]) throw no_chain{fmt::format("it sums over {}", out_.axis)};
                for (const auto& list : st().sums)
                    if (std::count(list.begin(), list.end(), static_cast<std::int32_t>(a)) > 0)
                        throw no_chain{fmt::format("it sums over {}", out_.axis)};
                if (out_.elements != 0 && extent(a) != out_.elements)
                    throw no_chain{fmt::format("{} has another extent", out_.axis)};
                return a;
            }
        throw no_chain{fmt::format("it does not depend on {}", out_.axis)};
    }

    void take_compute() {
        if (out_.phases.empty()) out_.compute = st().compute, out_.elements = extent(element_);
        if (st().compute != out_.compute)
            throw no_chain{fmt::format("it computes in {}, not {}", name_of(st().compute), name_of(out_.compute))};
    }

    void check_operands() const {
        for (const auto& o : st().operands) {
            if (!o.bounds.empty()) throw no_chain{"a padded position is not fused yet"};
            if (o.gathers.size() > 1) throw no_chain{"an operand has two index tables"};
            if (table_of_addresses(st(), o) != nullptr) throw no_chain{"an operand lies at addresses"};
            if (o.overlaps) throw no_chain{"it overlaps what it writes"};
        }
        for (const auto& o : st().operands) {
            if (own_.count(o.source) > 0 || !o.present[element_]) continue;
            // Else its strides belong to how many elements there are, which a kernel's constants must not.
            for (std::size_t a = 0; a < axis_count(); ++a)
                if (o.present[a] && extent(a) > 1 && magnitude(o.stride[a]) > magnitude(o.stride[element_]))
                    throw no_chain{fmt::format("{} is not the outermost index of an operand", out_.axis)};
        }
        if (!at(0).gathers.empty()) throw no_chain{"a left side by an index table is not fused yet"};
        std::int64_t all = 1;
        for (std::size_t a = 0; a < axis_count(); ++a) {
            if (extent(a) == 0) throw no_chain{"it has no elements"};
            if (a != element_ && (extent(a) > most_numbers || (all *= extent(a)) > most_work))
                throw no_chain{fmt::format("there is too much to do for each {}", out_.axis)};
        }
    }

    /// Makes a local of each of the chain's own temporaries that is met for the first time.
    void meet_locals() {
        for (const auto& o : st().operands) {
            if (own_.count(o.source) == 0 || locals_.count(o.source) > 0) continue;
            const auto& t = plan_.temporaries[static_cast<std::size_t>(-1 - o.source)];
            if (t.type != out_.compute)
                throw no_chain{fmt::format("a temporary is {}, not {}", name_of(t.type), name_of(out_.compute))};
            if (!o.present[element_]) throw no_chain{fmt::format("a temporary does not depend on {}", out_.axis)};
            const auto length = local_tensor::slice_length(t, o.stride[element_]);
            if (!length) throw no_chain{fmt::format("a temporary does not go along with {}", out_.axis)};
            if (*length > most_numbers) throw no_chain{"a temporary is too large"};
            locals_.try_emplace(o.source, t, o.stride[element_], pads_slots_);
        }
    }

    bool has_element(std::int32_t o) const {
        if (at(o).present[element_]) return true;
        return std::any_of(at(o).gathers.begin(), at(o).gathers.end(),
                           [&](const gather& g) { return at(g.table).present[element_] != 0; });
    }

    /// Whether an operand depends on an axis that has several values.
    bool depends(std::int32_t o, std::size_t a) const {
        if (extent(a) == 1) return false;
        if (at(o).present[a]) return true;
        return std::any_of(at(o).gathers.begin(), at(o).gathers.end(),
                           [&](const gather& g) { return at(g.table).present[a] != 0; });
    }
    bool is_output_axis(std::size_t a) const { return at(0).present[a] != 0; }

    // ---- contractions ----

    /// The sum at node n over X*Y, where no axis but those summed and the element is in both.
    std::optional<contraction> contraction_at(std::int32_t n) const {
        const auto& sum = st().nodes[static_cast<std::size_t>(n)];
        if (sum.kind != operation::sum) return {};
        matrix_product product;
        if (!is_matrix_product(st().nodes, sum.a, product) || product.y < 0 || product.coefficient >= 0 ||
            product.negative || product.sum >= 0)
            return {};
        contraction out;
        out.summed = st().sums[static_cast<std::size_t>(sum.b)];
        for (std::size_t a = 0; a < axis_count(); ++a) {
            if (a == element_ || extent(a) == 1) continue;
            const bool is_summed = std::count(out.summed.begin(), out.summed.end(), static_cast<std::int32_t>(a)) > 0;
            const bool in_both = depends(product.x, a) && depends(product.y, a);
            if (is_summed != in_both) return {};
        }
        const auto items = [&](std::int32_t o) {
            std::int64_t count = 1;
            for (std::size_t a = 0; a < axis_count(); ++a)
                if (a != element_ && is_output_axis(a) && depends(o, a)) count *= extent(a);
            return count;
        };
        // The matrix is the one that all elements share, else the smaller one.
        const bool x_is_matrix = has_element(product.x) != has_element(product.y)
                                     ? !has_element(product.x)
                                     : items(product.x) < items(product.y);
        out.pencil = x_is_matrix ? product.y : product.x, out.matrix = x_is_matrix ? product.x : product.y;
        out.pencil_conjugated = x_is_matrix ? product.y_conjugated : product.x_conjugated;
        out.matrix_conjugated = x_is_matrix ? product.x_conjugated : product.y_conjugated;
        if (!has_element(out.pencil)) return {};
        return out;
    }

    std::int64_t length_of(const contraction& c) const {
        std::int64_t length = 1;
        for (const auto a : c.summed) length *= extent(static_cast<std::size_t>(a));
        return length;
    }

    /// The first contraction in the tree whose pencil fits in registers.
    std::optional<contraction> first_contraction() const {
        for (std::size_t n = 0; n < st().nodes.size(); ++n)
            if (auto c = contraction_at(static_cast<std::int32_t>(n)); c && length_of(*c) <= longest_pencil) return c;
        return {};
    }

    // ---- phases ----

    chain_phase& phase() { return out_.phases.back(); }
    std::int32_t phase_number() const { return static_cast<std::int32_t>(out_.phases.size()) - 1; }

    /// Axes in the order of their strides in an operand, the nearest first.
    std::vector<std::size_t> ordered(std::vector<std::size_t> axes, std::int32_t o) const {
        const auto here = nominal(st(), at(o));
        std::stable_sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) {
            return magnitude(here.stride[a]) < magnitude(here.stride[b]);
        });
        return axes;
    }

    void start_phase(places& here) {
        out_.phases.emplace_back();
        item_names_.clear(), stream_names_.clear();
        is_decided_ = false;
        phase_views_.clear();
        for (auto& [source, t] : locals_) t.place = local_tensor::kept::nowhere;
        here.assign(axis_count(), {});
        place_known(here);
        std::vector<std::size_t> items, stream;
        const auto c = first_contraction();
        for (std::size_t a = 0; a < axis_count(); ++a)
            if (is(here[a], kind::unknown) && is_output_axis(a))
                (c && !depends(c->pencil, a) ? stream : items).push_back(a);
        is_decided_ = c.has_value();
        items = ordered(std::move(items), c ? c->pencil : 0);
        for (const auto a : items) here[a] = new_place(kind::item, a, phase().items, item_names_);
        for (const auto a : ordered(std::move(stream), 0))
            here[a] = new_place(kind::stream, a, phase().stream, stream_names_);
        evaluate(here);
    }

    axis_place new_place(kind where, std::size_t a, std::vector<std::int64_t>& extents,
                         std::vector<std::string_view>& names) {
        extents.push_back(extent(a)), names.push_back(st().axes[a].name);
        return {where, static_cast<std::int32_t>(extents.size()) - 1, 0};
    }

    void place_known(places& here) const {
        here[element_] = {kind::element, 0, 0};
        for (std::size_t a = 0; a < axis_count(); ++a)
            if (a != element_ && extent(a) == 1) here[a] = {kind::fixed, 0, 0};
    }

    local_tensor* local_of(std::int32_t o) {
        const auto found = locals_.find(at(o).source);
        return found == locals_.end() ? nullptr : &found->second;
    }

    /// How an operand goes through a local.
    local_tensor::way way_of(std::int32_t o, const local_tensor& t) const {
        auto way = t.read(st(), at(o), element_);
        if (!way) throw no_chain{"it goes through a temporary in a way that leaves an element"};
        return *std::move(way);
    }

    /// Places the axes of an operand that this phase has computed at its points as they are there.
    bool place_as_computed(std::int32_t o, const local_tensor& t, places& here) const {
        const auto way = way_of(o, t);
        std::vector<char> met(t.dimensions(), 0);
        for (std::size_t a = 0; a < axis_count(); ++a) {
            if (a == element_ || extent(a) == 1 || !at(o).present[a]) continue;
            const auto d = way.dimension_of(a);
            if (d < 0) return false;
            const auto dimension = static_cast<std::size_t>(d);
            if (t.extent(dimension) != extent(a)) return false;
            const auto& there = t.dimension_places[dimension];
            if (!is(here[a], kind::unknown) && here[a] != there) return false;
            here[a] = there;
            met[dimension] = 1;
        }
        for (std::size_t d = 0; d < met.size(); ++d)
            if (t.extent(d) > 1 && !met[d]) return false;
        return true;
    }

    /// Whether `here` has each item and each point's axis once among the axes of the output that have several values.
    bool covers_phase(const places& here) {
        std::vector<char> items(phase().items.size(), 0), stream(phase().stream.size(), 0);
        for (std::size_t a = 0; a < axis_count(); ++a) {
            if (!is_output_axis(a) || a == element_ || extent(a) == 1) continue;
            if (!is(here[a], kind::item) && !is(here[a], kind::stream)) return false;
            auto& met = (is(here[a], kind::item) ? items : stream)[static_cast<std::size_t>(here[a].number)];
            if (met) return false;
            met = 1;
        }
        return std::count(items.begin(), items.end(), 0) + std::count(stream.begin(), stream.end(), 0) == 0;
    }

    /// Places what is left by the indices' names.
    bool place_by_name(places& here) {
        for (std::size_t a = 0; a < axis_count(); ++a) {
            if (!is_output_axis(a) || !is(here[a], kind::unknown)) continue;
            const auto find = [&](const std::vector<std::string_view>& names, const std::vector<std::int64_t>& extents,
                                  kind where) {
                for (std::size_t n = 0; n < names.size(); ++n)
                    if (names[n] == st().axes[a].name && extents[n] == extent(a))
                        here[a] = {where, static_cast<std::int32_t>(n), 0};
            };
            find(item_names_, phase().items, kind::item);
            find(stream_names_, phase().stream, kind::stream);
            if (is(here[a], kind::unknown)) return false;
        }
        return true;
    }

    /// Evaluates the step at the points of the current phase, if it can be.
    bool appends(places& here) {
        here.assign(axis_count(), {});
        place_known(here);
        for (std::int32_t o = 1; o < static_cast<std::int32_t>(st().operands.size()); ++o) {
            const auto* t = local_of(o);
            if (t == nullptr) continue;
            if (t->place == local_tensor::kept::pencil) return false;
            if (t->place == local_tensor::kept::point && !place_as_computed(o, *t, here)) return false;
            if (t->place == local_tensor::kept::nowhere && t->phase == phase_number()) return false;
        }
        if (const auto* t = local_of(0); t != nullptr && t->place == local_tensor::kept::pencil) return false;
        if (!place_by_name(here) || !covers_phase(here)) return false;
        // Sums must be pencils of this phase's items, or few terms.
        if (const auto c = first_contraction()) {
            if (!is_decided_) return false;
            if (!fits_phase(*c, here)) return false;
            std::int64_t registers = length_of(*c);
            for (const auto& q : phase().pencils) registers += q.length;
            if (registers > longest_pencils) return false;
        }
        if (phase().ops.size() > most_ops / 2) return false;
        evaluate(here);
        return true;
    }

    /// Whether the pencil depends on no point and the matrix on no item.
    bool fits_phase(const contraction& c, const places& here) {
        for (std::size_t a = 0; a < axis_count(); ++a) {
            if (is(here[a], kind::stream) && depends(c.pencil, a)) return false;
            if (is(here[a], kind::item) && depends(c.matrix, a)) return false;
        }
        for (const auto o : {c.pencil, c.matrix}) {
            const auto* t = local_of(o);
            if (t != nullptr && (t->place != local_tensor::kept::nowhere || t->phase == phase_number())) return false;
        }
        return length_of(c) <= longest_pencil;
    }

    // ---- the other way round: points times a row of a matrix, added to a pencil ----

    struct added_row {
        contraction c;
        std::int32_t coefficient = -1; ///< a node
        bool negative = false;
    };

    /// The term as a row times what this phase has computed; places its axes.
    std::optional<added_row> added_row_at(const signed_term& term, places& here) {
        added_row out;
        out.negative = term.negative;
        auto n = term.node;
        while (st().nodes[static_cast<std::size_t>(n)].kind == operation::multiply) {
            const auto& product = st().nodes[static_cast<std::size_t>(n)];
            if (out.coefficient >= 0) return {};
            const bool first = is_scalar(product.a);
            if (!first && !is_scalar(product.b)) return {};
            out.coefficient = first ? product.a : product.b;
            n = first ? product.b : product.a;
        }
        const auto c = contraction_at(n);
        if (!c) return {};
        out.c = *c;
        const auto* t = local_of(c->pencil);
        if (t == nullptr || t->place != local_tensor::kept::point || !place_as_computed(c->pencil, *t, here)) return {};
        const auto* m = local_of(c->matrix);
        if (m != nullptr && (m->place != local_tensor::kept::nowhere || m->phase == phase_number())) return {};
        return out;
    }

    bool is_scalar(std::int32_t n) const {
        const auto& here = st().nodes[static_cast<std::size_t>(n)];
        if (here.kind == operation::access || here.kind == operation::sum) return false;
        return (arity(here.kind) < 1 || is_scalar(here.a)) && (arity(here.kind) < 2 || is_scalar(here.b));
    }

    bool adds_rows(places& here) {
        const auto root = static_cast<std::int32_t>(st().nodes.size()) - 1;
        const auto terms = terms_of(st().nodes, root, st().op == assignment::subtract);
        here.assign(axis_count(), {});
        place_known(here);
        std::vector<added_row> all;
        for (const auto& term : terms) {
            auto one = added_row_at(term, here);
            if (!one) return false;
            all.push_back(*one);
        }
        // All terms sum over the same axes of the phase, all of its points; the output has all items.
        std::set<std::int32_t> summed(all.front().c.summed.begin(), all.front().c.summed.end());
        std::vector<std::size_t> inner;
        std::set<std::int32_t> items_met;
        std::set<std::int32_t> points;
        std::int64_t length = 1;
        for (std::size_t a = 0; a < axis_count(); ++a) {
            if (a == element_ || extent(a) == 1) continue;
            const bool is_summed = summed.count(static_cast<std::int32_t>(a)) > 0;
            if (is_summed) {
                if (is(here[a], kind::unknown)) return false;
                if (is_decided_ && !is(here[a], kind::stream)) return false;
                points.insert(here[a].number);
            } else if (is(here[a], kind::unknown)) {
                inner.push_back(a), length *= extent(a);
            } else {
                if (!is(here[a], kind::item)) return false;
                items_met.insert(here[a].number);
            }
        }
        for (const auto& one : all) {
            if (std::set<std::int32_t>(one.c.summed.begin(), one.c.summed.end()) != summed) return false;
            for (const auto a : inner)
                if (!depends(one.c.matrix, a)) return false;
        }
        const auto streamed = is_decided_ ? phase().stream.size() : points.size();
        const auto of_items = is_decided_ ? phase().items.size() : phase().items.size() - points.size();
        if (points.size() != streamed || items_met.size() != of_items) return false;
        std::int64_t registers = length;
        for (const auto& q : phase().pencils) registers += q.length;
        if (length > longest_pencil || registers > longest_pencils) return false;
        if (!is_decided_) decide_stream(points, here);
        emit_added_rows(all, inner, here);
        return true;
    }

    /// Items of an undecided phase become its stream.
    void decide_stream(const std::set<std::int32_t>& points, places& here) {
        auto& ph = phase();
        std::vector<axis_place> now(ph.items.size());
        std::vector<std::int64_t> items;
        std::vector<std::string_view> names;
        for (std::size_t i = 0; i < ph.items.size(); ++i)
            if (points.count(static_cast<std::int32_t>(i)) > 0) {
                now[i] = {kind::stream, static_cast<std::int32_t>(ph.stream.size()), 0};
                ph.stream.push_back(ph.items[i]), stream_names_.push_back(item_names_[i]);
            } else {
                now[i] = {kind::item, static_cast<std::int32_t>(items.size()), 0};
                items.push_back(ph.items[i]), names.push_back(item_names_[i]);
            }
        ph.items = std::move(items), item_names_ = std::move(names);
        const auto move = [&](axis_place& p) {
            if (is(p, kind::item)) p = now[static_cast<std::size_t>(p.number)];
        };
        for (auto& p : here) move(p);
        for (auto& [source, t] : locals_)
            if (t.place == local_tensor::kept::point)
                for (auto& p : t.dimension_places) move(p);
        for (auto& v : phase_views_) {
            auto& view = out_.views[static_cast<std::size_t>(v)];
            std::vector<std::int64_t> item, stream(ph.stream.size(), 0);
            for (std::size_t i = 0; i < view.item.size(); ++i)
                if (is(now[i], kind::stream)) stream[static_cast<std::size_t>(now[i].number)] = view.item[i];
                else item.push_back(view.item[i]);
            view.item = std::move(item), view.stream = std::move(stream);
        }
        is_decided_ = true;
    }

    void emit_added_rows(const std::vector<added_row>& all, const std::vector<std::size_t>& inner, const places& here) {
        auto placed = here;
        for (std::size_t n = 0; n < inner.size(); ++n)
            placed[inner[n]] = {kind::inner, static_cast<std::int32_t>(n), 0};
        std::vector<chain_op> ops;
        for (const auto& one : all) {
            auto value = load(one.c.pencil, here);
            if (one.c.pencil_conjugated) value = compute(operation::conjugate, value);
            if (one.coefficient >= 0) value = compute(operation::multiply, emit(one.coefficient, here), value);
            if (one.negative) value = compute(operation::negate, value);
            auto& op = ops.emplace_back();
            op.kind = what::add_row;
            op.a = value, op.matrix = matrix(one.c, placed, inner);
        }
        const auto pencil = output_pencil(placed, inner); // last: the output may be what was read
        for (auto& op : ops) op.pencil = pencil, push(op);
    }

    /// The pencil that the output is added up in: that of an earlier step of the phase, if it adds to it.
    std::int32_t output_pencil(const places& placed, const std::vector<std::size_t>& inner) {
        auto* t = local_of(0);
        const bool adds = st().op != assignment::assign;
        if (t != nullptr && t->place == local_tensor::kept::pencil && adds) {
            const auto number = t->number;
            if (phase().pencils[static_cast<std::size_t>(number)].view == view(0, placed, inner, false)) return number;
        }
        if (t != nullptr) {
            const auto way = way_of(0, *t);
            const bool is_whole = t->is_whole(st(), way, element_);
            if (adds) check_addition(*t);
            else if (is_whole) t->forget();
            else check_part(*t);
            t->cover(st(), way, element_);
        }
        chain_pencil q;
        q.view = view(0, placed, inner, false);
        q.is_output = true;
        for (const auto a : inner) q.length *= static_cast<std::int32_t>(extent(a));
        q.accumulation = adds ? 1 : 0; // a subtraction's terms have their signs already
        check_reads(q.view);
        mark(q.view, true);
        if (adds) mark(q.view, false);
        if (t != nullptr) {
            t->place = local_tensor::kept::pencil, t->number = static_cast<std::int32_t>(phase().pencils.size());
            t->phase = phase_number(), t->is_stored = true;
        }
        phase().pencils.push_back(q);
        return static_cast<std::int32_t>(phase().pencils.size()) - 1;
    }

    /// Before a local is added to, its values must be in the slot, by an earlier phase.
    void check_addition(const local_tensor& t) const {
        if (t.place != local_tensor::kept::nowhere || t.phase == phase_number())
            throw no_chain{"what it adds to is computed beside it"};
        if (!t.is_covered()) throw no_chain{"it adds to a temporary that is not written as a whole"};
    }
    /// Before a part of it is written anew.
    void check_part(const local_tensor& t) const {
        if (t.place != local_tensor::kept::nowhere) throw no_chain{"another part is computed beside it"};
    }

    /// What is stored may be read in the same phase, or stored again, by the same thread at the same point only: through
    /// the same view. A pencil is stored when all points are done.
    void check_reads(std::int32_t to) const {
        const auto& ph = out_.phases.back();
        const no_chain problem{"it is computed beside what it writes"};
        for (const auto& q : ph.pencils)
            if (same_place(q.view, to)) throw problem;
        for (const auto& op : ph.ops) {
            if (op.view >= 0 && op.view != to && same_place(op.view, to)) throw problem;
            if (op.matrix < 0) continue;
            const auto view = out_.matrices[static_cast<std::size_t>(op.matrix)].view;
            if (view >= 0 && same_place(view, to)) throw problem;
        }
    }
    bool same_place(std::int32_t a, std::int32_t b) const {
        const auto &x = out_.views[static_cast<std::size_t>(a)], &y = out_.views[static_cast<std::size_t>(b)];
        return x.where == y.where && x.number == y.number;
    }

    // ---- values ----

    void push(const chain_op& op) {
        if (phase().ops.size() >= most_ops) throw no_chain{"it has too many operations for one kernel"};
        phase().ops.push_back(op);
    }
    std::int32_t value_of(chain_op op) {
        op.result = phase().values++;
        push(op);
        return op.result;
    }
    std::int32_t compute(operation function, std::int32_t a, std::int32_t b = -1) {
        chain_op op;
        op.kind = what::compute;
        op.function = function, op.a = a, op.b = b;
        return value_of(op);
    }

    void evaluate(const places& here) {
        auto value = emit(static_cast<std::int32_t>(st().nodes.size()) - 1, here);
        const int sign = st().op == assignment::assign ? 0 : st().op == assignment::add ? 1 : -1;
        auto* t = local_of(0);
        if (t == nullptr) return store(value, view(0, here, {}, false), sign);
        const auto way = way_of(0, *t);
        const bool is_whole = t->is_whole(st(), way, element_);
        if (sign != 0 && t->place == local_tensor::kept::point && is_whole) {
            value = compute(sign > 0 ? operation::add : operation::subtract, load(0, here), value);
            t->number = value;
            return;
        }
        if (sign != 0) check_addition(*t);
        else if (!is_whole) check_part(*t);
        if (sign == 0 && is_whole) {
            t->forget();
            t->cover(st(), way, element_);
            t->place = local_tensor::kept::point, t->number = value, t->phase = phase_number();
            t->dimension_places.assign(t->dimensions(), axis_place{});
            for (std::size_t a = 0; a < axis_count(); ++a)
                if (const auto d = way.dimension_of(a); a != element_ && extent(a) > 1 && d >= 0)
                    t->dimension_places[static_cast<std::size_t>(d)] = here[a];
            return;
        }
        const auto to = view(0, here, {}, false);
        store(value, to, sign);
        t->cover(st(), way, element_);
        t->phase = phase_number(), t->is_stored = true;
    }

    void store(std::int32_t value, std::int32_t to, std::int32_t accumulation) {
        check_reads(to);
        chain_op op;
        op.kind = what::store;
        op.a = value, op.view = to, op.accumulation = accumulation;
        mark(to, true);
        if (accumulation != 0) mark(to, false);
        push(op);
    }

    std::int32_t emit(std::int32_t n, const places& here) {
        const auto node = st().nodes[static_cast<std::size_t>(n)];
        switch (node.kind) {
        case operation::access: return load(node.a, here);
        case operation::scalar: {
            chain_op op;
            op.kind = what::scalar;
            op.a = node.a;
            return value_of(op);
        }
        case operation::sum: return emit_sum(n, here);
        default: {
            const auto a = emit(node.a, here);
            return compute(node.kind, a, arity(node.kind) == 2 ? emit(node.b, here) : -1);
        }
        }
    }

    std::int32_t emit_sum(std::int32_t n, const places& here) {
        const auto& sum = st().nodes[static_cast<std::size_t>(n)];
        const auto& list = st().sums[static_cast<std::size_t>(sum.b)];
        if (const auto c = contraction_at(n); c && is_decided_ && fits_phase(*c, here))
            return product_with_row(*c, here);
        std::vector<std::size_t> axes;
        std::int64_t terms = 1;
        for (const auto a : list)
            if (extent(static_cast<std::size_t>(a)) != 1)
                axes.push_back(static_cast<std::size_t>(a)), terms *= extent(static_cast<std::size_t>(a));
        if (terms > most_terms) throw no_chain{fmt::format("it adds up {} numbers for each of its own", terms)};
        if (terms == 0) throw no_chain{"it has an empty sum"};
        std::int32_t total = -1;
        for (std::int64_t term = 0; term < terms; ++term) {
            auto fixed = here;
            auto rest = term;
            for (const auto a : axes) fixed[a] = {kind::fixed, 0, rest % extent(a)}, rest /= extent(a);
            const auto value = emit(sum.a, fixed);
            total = total < 0 ? value : compute(operation::add, total, value);
        }
        return total;
    }

    std::int32_t load(std::int32_t o, const places& here) {
        if (const auto* t = local_of(o)) {
            if (t->place == local_tensor::kept::point) {
                auto again = here;
                for (std::size_t a = 0; a < axis_count(); ++a)
                    if (is(here[a], kind::fixed) && extent(a) > 1 && at(o).present[a])
                        throw no_chain{"it reads other points of what is computed beside it"};
                if (!place_as_computed(o, *t, again) || again != here)
                    throw no_chain{"it reads other points of what is computed beside it"};
                return t->number;
            }
            check_read(*t);
        }
        chain_op op;
        op.kind = what::load;
        op.view = view(o, here, {}, false);
        mark(op.view, false);
        check_stores(op.view);
        for (const auto& known : phase().ops)
            if (known.kind == what::load && known.view == op.view) return known.result;
        return value_of(op);
    }

    /// Before a local's slot is read.
    void check_read(const local_tensor& t) const {
        if (t.place != local_tensor::kept::nowhere || t.phase == phase_number())
            throw no_chain{"it reads other points of what is computed beside it"};
        if (!t.is_covered()) throw no_chain{"it reads a temporary that is not written as a whole"};
    }
    /// What the phase has stored may be another thread's.
    void check_stores(std::int32_t from) const {
        for (const auto& q : out_.phases.back().pencils)
            if (q.is_output && same_place(q.view, from)) throw no_chain{"it reads what is computed beside it"};
        for (const auto& op : out_.phases.back().ops)
            if (op.kind == what::store && same_place(op.view, from)) throw no_chain{"it reads what is computed beside it"};
    }

    std::int32_t product_with_row(const contraction& c, const places& here) {
        if (const auto* t = local_of(c.pencil)) check_read(*t);
        std::vector<std::size_t> inner;
        for (const auto a : c.summed)
            if (extent(static_cast<std::size_t>(a)) != 1) inner.push_back(static_cast<std::size_t>(a));
        inner = ordered(std::move(inner), c.pencil);
        auto placed = here;
        for (std::size_t n = 0; n < inner.size(); ++n)
            placed[inner[n]] = {kind::inner, static_cast<std::int32_t>(n), 0};
        chain_pencil q;
        q.view = view(c.pencil, placed, inner, c.pencil_conjugated);
        mark(q.view, false);
        check_stores(q.view);
        for (const auto a : inner) q.length *= static_cast<std::int32_t>(extent(a));
        auto& pencils = phase().pencils;
        auto found = std::find(pencils.begin(), pencils.end(), q);
        if (found == pencils.end()) found = pencils.insert(pencils.end(), q);
        chain_op op;
        op.kind = what::multiply_row;
        op.pencil = static_cast<std::int32_t>(found - pencils.begin());
        op.matrix = matrix(c, placed, inner);
        return value_of(op);
    }

    // ---- operands ----

    template <class T> std::int32_t number_of(std::vector<T>& all, const T& one) {
        const auto found = std::find(all.begin(), all.end(), one);
        if (found != all.end()) return static_cast<std::int32_t>(found - all.begin());
        all.push_back(one);
        return static_cast<std::int32_t>(all.size()) - 1;
    }

    /// The memory of an operand of the step; its offset is the view's.
    std::int32_t memory(const operand& o) {
        const auto step = o.present[element_] ? o.stride[element_] : 0;
        const auto source = o.source < 0 || plan_.same_access.empty()
                                ? o.source
                                : plan_.same_access[static_cast<std::size_t>(o.source)];
        for (std::size_t m = 0; m < out_.memories.size(); ++m) {
            const auto& here = out_.memories[m];
            if (here.source == source && here.type == o.type && here.element_step == step)
                return static_cast<std::int32_t>(m);
        }
        chain_memory made;
        made.type = o.type, made.source = source, made.element_step = step;
        out_.memories.push_back(made);
        return static_cast<std::int32_t>(out_.memories.size()) - 1;
    }

    std::int32_t matrix(const contraction& c, const places& placed, const std::vector<std::size_t>& inner) {
        chain_matrix m;
        m.conjugated = c.matrix_conjugated;
        m.stream_extent = phase().stream;
        for (const auto a : inner) m.inner_extent.push_back(extent(a));
        if (has_element(c.matrix) || !at(c.matrix).gathers.empty()) {
            m.conjugated = false;
            if (const auto* t = local_of(c.matrix)) check_read(*t);
            m.view = view(c.matrix, placed, inner, c.matrix_conjugated);
            mark(m.view, false);
            check_stores(m.view);
            return number_of(out_.matrices, m);
        }
        const auto& o = at(c.matrix);
        m.memory = memory(o);
        m.offset = o.offset;
        m.stream.assign(phase().stream.size(), 0), m.inner.assign(inner.size(), 0);
        for (std::size_t a = 0; a < axis_count(); ++a) {
            if (is(placed[a], kind::stream)) m.stream[static_cast<std::size_t>(placed[a].number)] += o.stride[a];
            if (is(placed[a], kind::inner)) m.inner[static_cast<std::size_t>(placed[a].number)] += o.stride[a];
            if (is(placed[a], kind::fixed)) m.offset += placed[a].value * o.stride[a];
        }
        return number_of(out_.matrices, m);
    }

    std::int32_t view(std::int32_t o, const places& placed, const std::vector<std::size_t>& inner, bool conjugated) {
        return view(at(o), placed, inner, conjugated);
    }

    std::int32_t view(const operand& o, const places& placed, const std::vector<std::size_t>& inner,
                      bool conjugated) {
        chain_view v;
        v.phase = phase_number(), v.conjugated = conjugated;
        v.item.assign(phase().items.size(), 0), v.stream.assign(phase().stream.size(), 0);
        v.inner.assign(inner.size(), 0);
        for (const auto a : inner) v.inner_extent.push_back(extent(a));
        std::vector<std::int64_t> strides = o.stride;
        v.offset = o.offset;
        if (const auto found = locals_.find(o.source); found != locals_.end()) {
            auto& t = found->second;
            const auto way = t.read(st(), o, element_);
            if (!way) throw no_chain{"it goes through a temporary in a way that leaves an element"};
            v.where = chain_view::space::slot;
            v.number = slot_of(t);
            strides = t.slot_strides(*way);
            v.offset = t.slot_offset(*way);
        } else {
            v.number = memory(o);
        }
        for (std::size_t a = 0; a < axis_count(); ++a) {
            if (!o.present[a] || a == element_) continue;
            const auto n = static_cast<std::size_t>(placed[a].number);
            switch (placed[a].where) {
            case kind::item: v.item[n] += strides[a]; break;
            case kind::stream: v.stream[n] += strides[a]; break;
            case kind::inner: v.inner[n] += strides[a]; break;
            case kind::fixed: v.offset += placed[a].value * strides[a]; break;
            default: throw no_chain{fmt::format("nothing runs over {}", st().axes[a].name)};
            }
        }
        if (!o.gathers.empty()) {
            const auto& g = o.gathers.front();
            v.table = view(st().operands[static_cast<std::size_t>(g.table)], placed, inner, false);
            v.gather_stride = g.stride;
            mark(v.table, false);
        }
        return number_of_view(v);
    }

    /// Views of other phases have other axes, also where their strides are the same.
    std::int32_t number_of_view(const chain_view& v) {
        for (const auto known : phase_views_)
            if (out_.views[static_cast<std::size_t>(known)] == v) return known;
        out_.views.push_back(v);
        phase_views_.push_back(static_cast<std::int32_t>(out_.views.size()) - 1);
        return phase_views_.back();
    }

    void mark(std::int32_t v, bool written) {
        const auto& view = out_.views[static_cast<std::size_t>(v)];
        if (view.where == chain_view::space::memory) {
            auto& m = out_.memories[static_cast<std::size_t>(view.number)];
            (written ? m.is_written : m.is_read) = true;
        } else {
            auto& s = out_.slots[static_cast<std::size_t>(view.number)];
            s.first_phase = std::min(s.first_phase, phase_number());
            s.last_phase = std::max(s.last_phase, phase_number());
        }
    }

    /// The slot of a local; what an earlier phase has computed of it at its points is stored there at its end.
    std::int32_t slot_of(local_tensor& t) {
        if (t.slot < 0) {
            t.slot = static_cast<std::int32_t>(out_.slots.size());
            const auto first = t.phase >= 0 ? t.phase : phase_number();
            out_.slots.push_back({t.slot_length(), first, first});
        }
        if (t.phase >= 0 && t.phase < phase_number() && !t.is_stored) {
            auto& earlier = out_.phases[static_cast<std::size_t>(t.phase)];
            chain_view v;
            v.phase = t.phase, v.where = chain_view::space::slot, v.number = t.slot;
            v.item.assign(earlier.items.size(), 0), v.stream.assign(earlier.stream.size(), 0);
            for (std::size_t d = 0; d < t.dimensions(); ++d) {
                const auto& p = t.dimension_places[d];
                if (t.extent(d) > 1)
                    (is(p, kind::item) ? v.item : v.stream)[static_cast<std::size_t>(p.number)] = t.slot_stride(d);
            }
            chain_op op;
            op.kind = what::store;
            op.a = t.number, op.view = static_cast<std::int32_t>(out_.views.size());
            out_.views.push_back(v);
            earlier.ops.push_back(op);
            t.is_stored = true;
        }
        return t.slot;
    }

    /// What a step that failed has changed.
    void take_back(const state& before) {
        out_ = before.out_;
        locals_ = before.locals_;
        phase_views_ = before.phase_views_;
        item_names_ = before.item_names_, stream_names_ = before.stream_names_;
        is_decided_ = before.is_decided_;
    }

    // ---- the end ----

    /// Bytes to and from memory, and operations, of one element.
    void count_work() {
        const double factor = is_complex(out_.compute) ? 4 : 1;
        for (const auto& ph : out_.phases) {
            const auto items = static_cast<double>(ph.item_count()), points = static_cast<double>(ph.point_count());
            for (const auto& op : ph.ops) {
                if (op.kind == what::compute) out_.flops += items * points * factor;
                if (op.pencil >= 0)
                    out_.flops += 2 * items * points * factor * ph.pencils[static_cast<std::size_t>(op.pencil)].length;
            }
        }
        for (const auto& s : out_.slots)
            out_.kept_bytes += 2 * static_cast<double>(s.length) * static_cast<double>(size_of(out_.compute));
    }

    const plan& plan_;
    const std::set<std::int32_t> own_;
    const bool pads_slots_;
    const step* step_ = nullptr;
    std::size_t element_ = 0;
    chain out_;
    std::map<std::int32_t, local_tensor> locals_; ///< by operand::source
    std::vector<std::int32_t> phase_views_;       ///< of the current phase
    std::vector<std::string_view> item_names_, stream_names_;
    bool is_decided_ = false; ///< which of the phase's axes are the stream's
};

chain_builder::chain_builder(const plan& p, std::string_view axis, const std::set<std::int32_t>& own, bool pads_slots)
    : state_(std::make_unique<state>(p, axis, own, pads_slots)) {}
chain_builder::~chain_builder() = default;

std::optional<std::string> chain_builder::add(const step& st) {
    try {
        state_->add(st);
        return {};
    } catch (const no_chain& problem) {
        return problem.why;
    }
}

chain chain_builder::finish() && { return std::move(*state_).finish(); }

} // namespace ricci::lowering
