// chain_phases: places a step's axes: among the items, points and pencils of the current phase, or of a new one.
#include "lowering/chain_state.hpp"

#include "lowering/gathers.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>

namespace ricci::lowering {

std::optional<chain_state::contraction> chain_state::contraction_at(std::int32_t n) const {
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
    const bool x_is_matrix = has_element(product.x) != has_element(product.y) ? !has_element(product.x)
                                                                              : items(product.x) < items(product.y);
    out.pencil = x_is_matrix ? product.y : product.x, out.matrix = x_is_matrix ? product.x : product.y;
    out.pencil_conjugated = x_is_matrix ? product.y_conjugated : product.x_conjugated;
    out.matrix_conjugated = x_is_matrix ? product.x_conjugated : product.y_conjugated;
    if (!has_element(out.pencil)) return {};
    return out;
}

std::int64_t chain_state::length_of(const contraction& c) const {
    std::int64_t length = 1;
    for (const auto a : c.summed) length *= extent(static_cast<std::size_t>(a));
    return length;
}

std::optional<chain_state::contraction> chain_state::first_contraction() const {
    for (std::size_t n = 0; n < st().nodes.size(); ++n)
        if (auto c = contraction_at(static_cast<std::int32_t>(n)); c && length_of(*c) <= longest_pencil) return c;
    return {};
}

std::vector<std::size_t> chain_state::ordered(std::vector<std::size_t> axes, std::int32_t o) const {
    const auto here = nominal(st(), at(o));
    std::stable_sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) {
        return magnitude(here.stride[a]) < magnitude(here.stride[b]);
    });
    return axes;
}

void chain_state::start_phase(places& here) {
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

axis_place chain_state::new_place(kind where, std::size_t a, std::vector<std::int64_t>& extents,
                                  std::vector<std::string_view>& names) {
    extents.push_back(extent(a)), names.push_back(st().axes[a].name);
    return {where, static_cast<std::int32_t>(extents.size()) - 1, 0};
}

void chain_state::place_known(places& here) const {
    here[element_] = {kind::element, 0, 0};
    for (std::size_t a = 0; a < axis_count(); ++a)
        if (a != element_ && extent(a) == 1) here[a] = {kind::fixed, 0, 0};
}

bool chain_state::place_as_computed(std::int32_t o, const local_tensor& t, places& here) const {
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

bool chain_state::covers_phase(const places& here) {
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

bool chain_state::place_by_name(places& here) {
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

bool chain_state::appends(places& here) {
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

bool chain_state::fits_phase(const contraction& c, const places& here) {
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

bool chain_state::is_scalar(std::int32_t n) const {
    const auto& here = st().nodes[static_cast<std::size_t>(n)];
    if (here.kind == operation::access || here.kind == operation::sum) return false;
    return (arity(here.kind) < 1 || is_scalar(here.a)) && (arity(here.kind) < 2 || is_scalar(here.b));
}

std::optional<chain_state::added_row> chain_state::added_row_at(const signed_term& term, places& here) {
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

bool chain_state::adds_rows(places& here) {
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

void chain_state::decide_stream(const std::set<std::int32_t>& points, places& here) {
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
            if (is(now[i], kind::stream))
                stream[static_cast<std::size_t>(now[i].number)] = view.item[i];
            else
                item.push_back(view.item[i]);
        view.item = std::move(item), view.stream = std::move(stream);
    }
    is_decided_ = true;
}

} // namespace ricci::lowering
