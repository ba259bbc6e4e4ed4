// chain_values: writes a step as operations of a phase, and how these go through memory and slots.
#include "lowering/chain_state.hpp"

#include "lowering/same_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ricci::lowering {
namespace {

template <class T>
std::int32_t number_of(std::vector<T>& all, const T& one) {
    const auto found = std::find(all.begin(), all.end(), one);
    if (found != all.end()) return static_cast<std::int32_t>(found - all.begin());
    all.push_back(one);
    return static_cast<std::int32_t>(all.size()) - 1;
}

} // namespace

void chain_state::push(const chain_op& op) {
    if (phase().ops.size() >= most_ops) throw no_chain{"it has too many operations for one kernel"};
    phase().ops.push_back(op);
}

std::int32_t chain_state::value_of(chain_op op) {
    op.result = phase().values++;
    push(op);
    return op.result;
}

std::int32_t chain_state::compute(operation function, std::int32_t a, std::int32_t b) {
    chain_op op;
    op.kind = what::compute;
    op.function = function, op.a = a, op.b = b;
    return value_of(op);
}

void chain_state::evaluate(const places& here) {
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
    if (sign != 0)
        check_addition(*t);
    else if (!is_whole)
        check_part(*t);
    if (is_whole) {
        // What an addition makes of it is a value of this phase too, which may be all that is wanted of it.
        if (sign != 0) value = compute(sign > 0 ? operation::add : operation::subtract, load(0, here), value);
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

void chain_state::store(std::int32_t value, std::int32_t to, std::int32_t accumulation) {
    check_reads(to);
    chain_op op;
    op.kind = what::store;
    op.a = value, op.view = to, op.accumulation = accumulation;
    mark(to, true);
    if (accumulation != 0) mark(to, false);
    push(op);
}

std::int32_t chain_state::emit(std::int32_t n, const places& here) {
    const auto node = st().nodes[static_cast<std::size_t>(n)];
    switch (node.kind) {
    case operation::access:
        return load(node.a, here);
    case operation::scalar: {
        chain_op op;
        op.kind = what::scalar;
        op.a = node.a;
        return value_of(op);
    }
    case operation::sum:
        return emit_sum(n, here);
    default: {
        const auto a = emit(node.a, here);
        return compute(node.kind, a, arity(node.kind) == 2 ? emit(node.b, here) : -1);
    }
    }
}

std::int32_t chain_state::emit_sum(std::int32_t n, const places& here) {
    const auto& sum = st().nodes[static_cast<std::size_t>(n)];
    const auto& list = st().sums[static_cast<std::size_t>(sum.b)];
    if (const auto c = contraction_at(n); c && is_decided_ && fits_phase(*c, here)) return product_with_row(*c, here);
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

std::int32_t chain_state::load(std::int32_t o, const places& here) {
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

std::int32_t chain_state::product_with_row(const contraction& c, const places& here) {
    if (const auto* t = local_of(c.pencil)) check_read(*t);
    std::vector<std::size_t> inner;
    for (const auto a : c.summed)
        if (extent(static_cast<std::size_t>(a)) != 1) inner.push_back(static_cast<std::size_t>(a));
    inner = ordered(std::move(inner), c.pencil);
    auto placed = here;
    for (std::size_t n = 0; n < inner.size(); ++n) placed[inner[n]] = {kind::inner, static_cast<std::int32_t>(n), 0};
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

void chain_state::emit_added_rows(const std::vector<added_row>& all, const std::vector<std::size_t>& inner,
                                  const places& here) {
    auto placed = here;
    for (std::size_t n = 0; n < inner.size(); ++n) placed[inner[n]] = {kind::inner, static_cast<std::int32_t>(n), 0};
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

std::int32_t chain_state::output_pencil(const places& placed, const std::vector<std::size_t>& inner) {
    auto* t = local_of(0);
    const bool adds = st().op != assignment::assign;
    if (t != nullptr && t->place == local_tensor::kept::pencil && adds) {
        const auto number = t->number;
        if (phase().pencils[static_cast<std::size_t>(number)].view == view(0, placed, inner, false)) return number;
    }
    if (t != nullptr) {
        const auto way = way_of(0, *t);
        const bool is_whole = t->is_whole(st(), way, element_);
        if (adds)
            check_addition(*t);
        else if (is_whole)
            t->forget();
        else
            check_part(*t);
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

std::int32_t chain_state::memory(const operand& o) {
    const auto step = o.present[element_] ? o.stride[element_] : 0;
    const auto source = same_tensor(plan_, o.source);
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

std::int32_t chain_state::matrix(const contraction& c, const places& placed, const std::vector<std::size_t>& inner) {
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

std::int32_t chain_state::view(std::int32_t o, const places& placed, const std::vector<std::size_t>& inner,
                               bool conjugated) {
    return view(at(o), placed, inner, conjugated);
}

std::int32_t chain_state::view(const operand& o, const places& placed, const std::vector<std::size_t>& inner,
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
        case kind::item:
            v.item[n] += strides[a];
            break;
        case kind::stream:
            v.stream[n] += strides[a];
            break;
        case kind::inner:
            v.inner[n] += strides[a];
            break;
        case kind::fixed:
            v.offset += placed[a].value * strides[a];
            break;
        default:
            throw no_chain{fmt::format("nothing runs over {}", st().axes[a].name)};
        }
    }
    for (const auto& g : o.gathers) {
        const auto table = view(st().operands[static_cast<std::size_t>(g.table)], placed, inner, false);
        mark(table, false);
        v.tables.push_back({table, g.stride});
        if (g.equal != collision::none) v.adds_atomically = true;
    }
    return number_of_view(v);
}

std::int32_t chain_state::number_of_view(const chain_view& v) {
    for (const auto known : phase_views_)
        if (out_.views[static_cast<std::size_t>(known)] == v) return known;
    out_.views.push_back(v);
    phase_views_.push_back(static_cast<std::int32_t>(out_.views.size()) - 1);
    return phase_views_.back();
}

void chain_state::mark(std::int32_t v, bool written) {
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

std::int32_t chain_state::slot_of(local_tensor& t) {
    if (t.slot < 0) {
        t.slot = static_cast<std::int32_t>(out_.slots.size());
        const auto first = t.phase >= 0 ? t.phase : phase_number();
        out_.slots.push_back(t.slot_of_phase(first));
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

} // namespace ricci::lowering
