// contraction: a step along one axis as a batch of matrix products.
#include "bench/fem/contraction.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace ricci::bench::fem {

namespace {

std::span<const lowering::position> positions_of(const lowering::statement& s, const lowering::access& a) {
    return {s.positions.data() + a.first_position, static_cast<std::size_t>(a.position_count)};
}

std::int32_t label_of(const lowering::statement& s, const lowering::position& p) {
    return s.terms[static_cast<std::size_t>(p.first_term)].label;
}

std::int64_t elements_of(std::span<const lowering::position> all) {
    return std::accumulate(all.begin(), all.end(), std::int64_t{1},
                           [](std::int64_t n, const lowering::position& p) { return n * p.extent; });
}

matrix lay_out(lowering::scalar_type type, std::int64_t row, std::int64_t column, std::int64_t batch,
               std::int64_t elements) {
    return {type, row, column, batch, elements};
}

} // namespace

std::optional<contraction> contraction_of(const lowering::statement& s) {
    const bool is_product = s.nodes.size() == 3 && s.nodes.back().kind == lowering::operation::multiply;
    const auto is_plain = [](const lowering::position& p) { return p.term_count == 1 && !p.is_gathered(); };
    if (!is_product || s.accesses.size() != 3 || !std::all_of(s.positions.begin(), s.positions.end(), is_plain))
        return std::nullopt;
    const auto small = positions_of(s, s.accesses[1]), large = positions_of(s, s.accesses[2]);
    if (small.size() != 2) return std::nullopt;
    const auto in_large = [&](const lowering::position& p) {
        return std::find_if(large.begin(), large.end(),
                            [&](const auto& o) { return label_of(s, o) == label_of(s, p); });
    };
    const auto summed = in_large(small[0]) != large.end() ? 0U : 1U;
    const auto axis = in_large(small[summed]);
    if (axis == large.end() || in_large(small[1 - summed]) != large.end()) return std::nullopt;

    const auto number = static_cast<std::size_t>(axis - large.begin());
    const std::int64_t before = elements_of(large.first(number)), after = elements_of(large.subspan(number + 1)),
                       from = axis->extent, to = small[1 - summed].extent;
    const std::int64_t to_stride = small[1 - summed].stride, from_stride = small[summed].stride;
    const lowering::scalar_type type = s.accesses[0].type;
    contraction out;
    product& p = out.p;
    p.accumulate = s.op == lowering::assignment::add;
    p.k = from;
    if (before == 1) {
        p.m = to, p.n = after;
        p.a = lay_out(type, to_stride, from_stride, 0, to * from);
        p.b = lay_out(type, 1, from, 0, from * after);
        p.c = lay_out(type, 1, to, 0, to * after);
        out.access = {1, 2, 0};
    } else {
        p.m = before, p.n = to, p.batch = after, p.batched = true;
        p.a = lay_out(type, 1, before, before * from, before * from * after);
        p.b = lay_out(type, from_stride, to_stride, 0, to * from);
        p.c = lay_out(type, 1, before, before * to, before * to * after);
        out.access = {2, 1, 0};
    }
    return out;
}

} // namespace ricci::bench::fem
