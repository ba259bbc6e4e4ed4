// chain_calls: factorizations of each element's matrices, and solves, as phases of a chain: their operands' views,
// and where they work. What is factored or solved for lies in slots: a temporary's own where that is to become the
// result, or where nobody reads it any more; else a copy's.
#include "lowering/chain_state.hpp"

#include "lowering/chain_uses.hpp"
#include "lowering/coincidence.hpp"
#include "lowering/matrix_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ricci::lowering {
namespace {

constexpr matrix_role roles[] = {matrix_role::matrix, matrix_role::vector, matrix_role::info, matrix_role::given,
                                 matrix_role::solution};

/// Whether all matrices that a phase's items view have elements of their own. Those that are only read may be windows
/// of one sequence, or Toeplitz matrices.
bool are_apart(const chain_view& v, const std::vector<std::int64_t>& items) {
    std::vector<bounded_term> terms;
    const auto take = [&](const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides) {
        for (std::size_t d = 0; d < extents.size(); ++d)
            if (extents[d] > 1) terms.push_back({strides[d], 1 - extents[d], extents[d] - 1});
    };
    take(v.inner_extent, v.inner), take(items, v.item);
    return !has_solution(std::move(terms), 0, 0, true);
}

} // namespace

void chain_state::check_call() const {
    const auto batch = batch_of_matrices(st());
    if (std::find(batch.begin(), batch.end(), static_cast<std::int32_t>(element_)) == batch.end())
        throw no_chain{fmt::format("its matrices go along {}", out_.axis)};
    for (const auto r : {matrix_role::log_abs, matrix_role::sign})
        if (st().matrices.of(r) >= 0) throw no_chain{"determinants have a kernel of their own"};
    if (st().matrices.smallest_norm) throw no_chain{"smallest solutions have a kernel of their own"};
    for (std::size_t o = 0; o < st().operands.size(); ++o)
        if (writes_operand(st(), o) && !st().operands[o].present[element_])
            throw no_chain{fmt::format("what it writes does not depend on {}", out_.axis)};
    const auto sizes = matrix_sizes_of(st());
    constexpr std::int64_t largest = 128; // behind which kernels of their own, by panels, are several times as fast
    if (std::max(sizes.m, sizes.n) > largest) throw no_chain{"its matrices are too large"};
}

void chain_state::add_call() {
    const auto& w = st().matrices;
    for (const auto r : roles)
        if (const auto o = w.of(r); o >= 0 && reads_operand(st(), static_cast<std::size_t>(o)))
            if (const auto* t = local_of(o))
                if (!t->is_covered()) throw no_chain{"it reads a temporary that is not written as a whole"};
    out_.phases.emplace_back();
    item_names_.clear(), stream_names_.clear(), phase_views_.clear();
    is_decided_ = true;
    for (auto& [source, t] : locals_) t.place = local_tensor::kept::nowhere;

    const auto sizes = matrix_sizes_of(st());
    chain_call call;
    call.task = w.task, call.method = w.method;
    call.keeps_factors = w.keeps_factors, call.upper = w.upper, call.unit = w.unit, call.adjoint = w.adjoint;
    call.rows = static_cast<std::int32_t>(sizes.m), call.columns = static_cast<std::int32_t>(sizes.n);
    call.sides = static_cast<std::int32_t>(sizes.r);
    const auto here = items_of_call();
    for (const auto r : roles)
        if (w.of(r) >= 0) call.of(r) = view_in_role(r, here);
    phase().call = call;
    for (const auto r : roles)
        if (call.of(r) >= 0) {
            const auto use = use_of(call, r);
            if (use.reads) mark(call.of(r), false);
            if (use.writes) mark(call.of(r), true), write_by_call(w.of(r));
        }
}

chain_state::places chain_state::items_of_call() {
    places here(axis_count());
    place_known(here);
    for (const auto a : batch_of_matrices(st()))
        if (const auto axis = static_cast<std::size_t>(a); is(here[axis], kind::unknown))
            here[axis] = new_place(kind::item, axis, phase().items, item_names_);
    return here;
}

std::int32_t chain_state::view_in_role(matrix_role r, const places& here) {
    const auto& w = st().matrices;
    std::vector<std::int32_t> along;
    switch (r) {
    case matrix_role::matrix:
        along = {w.row, w.column};
        break;
    case matrix_role::vector:
        along = {w.along_vector};
        break;
    case matrix_role::given:
        along = {w.given_row, w.right};
        break;
    case matrix_role::solution:
        along = {w.solution_row, w.right};
        break;
    default:
        break;
    }
    auto placed = here;
    std::vector<std::size_t> inner;
    for (const auto a : along) {
        placed[static_cast<std::size_t>(a)] = {kind::inner, static_cast<std::int32_t>(inner.size()), 0};
        inner.push_back(static_cast<std::size_t>(a));
    }
    return view(w.of(r), placed, inner, w.conjugated && (r == matrix_role::matrix || r == matrix_role::vector));
}

void chain_state::write_by_call(std::int32_t o) {
    auto* t = local_of(o);
    if (t == nullptr) return;
    const auto slot = t->slot; // it stays there
    const auto way = way_of(o, *t);
    if (t->is_whole(st(), way, element_) && !reads_operand(st(), static_cast<std::size_t>(o))) t->forget();
    t->cover(st(), way, element_);
    t->slot = slot, t->phase = phase_number(), t->is_stored = true;
}

std::int32_t chain_state::own_slot(std::int32_t phase, std::int64_t rows, std::int64_t columns) {
    const auto& items = out_.phases[static_cast<std::size_t>(phase)].items;
    chain_slot s;
    s.extents = {rows, columns};
    s.extents.insert(s.extents.end(), items.begin(), items.end());
    s.strides = dense_strides(s.extents);
    s.first_phase = s.last_phase = phase;
    chain_view v;
    v.phase = phase, v.where = chain_view::space::slot, v.number = static_cast<std::int32_t>(out_.slots.size());
    for (std::size_t d = 0; d < s.extents.size(); ++d) // along a dimension of one value nothing goes
        (d < 2 ? v.inner : v.item).push_back(s.extents[d] == 1 ? 0 : s.strides[d]);
    v.inner_extent = {rows, columns};
    out_.slots.push_back(std::move(s)), out_.views.push_back(std::move(v));
    return static_cast<std::int32_t>(out_.views.size()) - 1;
}

void chain_state::find_places_of_calls() {
    for (std::int32_t p = 0; p < static_cast<std::int32_t>(out_.phases.size()); ++p) {
        auto& ph = out_.phases[static_cast<std::size_t>(p)];
        if (!ph.call) continue;
        auto call = *ph.call;
        const auto at = [&](std::int32_t v) -> const chain_view& { return out_.views[static_cast<std::size_t>(v)]; };
        const auto is_slot = [&](std::int32_t v) { return v >= 0 && at(v).where == chain_view::space::slot; };
        const auto share = [&](std::int32_t v, std::int32_t u) {
            return is_slot(v) && is_slot(u) && at(v).number == at(u).number;
        };
        using enum matrix_role;
        const auto matrix_view = call.of(matrix), given_view = call.of(given), solution_view = call.of(solution);
        const bool works_on_q = call.method == matrix_method::apply_q || call.method == matrix_method::apply_qh ||
                                call.method == matrix_method::form_q;
        const auto right_rows = works_on_q ? call.rows : std::max(call.rows, call.columns);
        const bool fits = call.rows == call.columns || works_on_q;
        if (solution_view >= 0)
            call.right = is_slot(solution_view) && fits && are_apart(at(solution_view), ph.items)
                             ? solution_view
                             : own_slot(p, right_rows, call.sides);
        if (call.task == matrix_task::factor) {
            const bool is_wanted =
                is_slot(matrix_view) && out_.slots[static_cast<std::size_t>(at(matrix_view).number)].last_phase > p;
            const bool is_free = is_slot(matrix_view) && !is_wanted && !at(matrix_view).conjugated &&
                                 !share(matrix_view, given_view) && !share(matrix_view, solution_view) &&
                                 are_apart(at(matrix_view), ph.items);
            const bool stays = is_slot(matrix_view) && call.keeps_factors;
            call.matrix = stays || is_free ? matrix_view : own_slot(p, call.rows, call.columns);
        }
        ph.call = call;
    }
}

} // namespace ricci::lowering
