// source: one product for each element, recorded with its scatter, so that a backend that can fuses the two.
#include "examples/fem/solve/source.hpp"

#include "examples/fem/operators/locals.hpp"
#include "examples/fem/operators/shaped.hpp"

namespace fem {

using namespace ricci::indices;

void find_source_load(const h1_space& space, const tables& basis, const element_map& map,
                      const gather_scatter& sharing, const manufactured& known, const symmetric_matrix& K,
                      vector& load) {
    const auto source = [&](const point& at) { return known.source(at, K); };
    const vector at_points = to_device(
        values_at(map.points().download(), map.points_per_element(), map.dimension(), source), map.device());
    const vector weights = map.weights();
    const std::int64_t P = basis.nodes(), Q = basis.points(), E = space.elements();
    const matrix& B = basis.B;
    auto program = ricci::record([&] {
        if (map.dimension() == 2) {
            auto v = make_local<3>({P, P, E}, map.device());
            const auto W = shaped<3>(weights, {Q, Q, E}), F = shaped<3>(at_points, {Q, Q, E});
            v(a, b, e) = B(q, a) * B(r, b) * W(q, r, e) * F(q, r, e);
            sharing.scatter(v, load);
        } else {
            auto v = make_local<4>({P, P, P, E}, map.device());
            const auto W = shaped<4>(weights, {Q, Q, Q, E}), F = shaped<4>(at_points, {Q, Q, Q, E});
            v(a, b, c, e) = B(q, a) * B(r, b) * B(s, c) * W(q, r, s, e) * F(q, r, s, e);
            sharing.scatter(v, load);
        }
    });
    program();
}

} // namespace fem
