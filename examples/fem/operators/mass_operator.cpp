// mass_operator: one statement in each dimension; the order of its products is ricci's to find.
#include "examples/fem/operators/mass_operator.hpp"

namespace fem {

using namespace ricci::indices;

mass_operator::mass_operator(const h1_space& space, const tables& basis, const element_map& map, int components)
    : element_operator(space, basis, components), weights_(map.weights()) {}

void mass_operator::statements(bool global) {
    const std::int64_t Q = points_along_, E = elements_;
    const matrix& B = basis_.B;
    // With many components the best order of one product would be a small matrix for each element, formed once for
    // all of them; with the few there are, values at the points are better, which three statements say.
    on_vectors(
        global,
        [&]<class... Component>(auto& u, auto& v, Component... component) {
            const auto W = shaped<3>(weights_, {Q, Q, E});
            if constexpr (sizeof...(component) == 0) {
                v(a, b, e) = B(q, a) * B(r, b) * W(q, r, e) * B(q, i) * B(r, j) * u(i, j, e);
            } else {
                auto w = make_local(extents<4>(Q), device_), t = make_local(extents<4>(Q), device_);
                w(q, r, m, e) = B(q, i) * B(r, j) * u(i, j, m, e);
                t(q, r, m, e) = W(q, r, e) * w(q, r, m, e);
                v(a, b, m, e) = B(q, a) * B(r, b) * t(q, r, m, e);
            }
        },
        [&]<class... Component>(auto& u, auto& v, Component... component) {
            const auto W = shaped<4>(weights_, {Q, Q, Q, E});
            if constexpr (sizeof...(component) == 0) {
                v(a, b, c, e) =
                    B(q, a) * B(r, b) * B(s, c) * W(q, r, s, e) * B(q, i) * B(r, j) * B(s, k) * u(i, j, k, e);
            } else {
                auto w = make_local(extents<5>(Q), device_), t = make_local(extents<5>(Q), device_);
                w(q, r, s, m, e) = B(q, i) * B(r, j) * B(s, k) * u(i, j, k, m, e);
                t(q, r, s, m, e) = W(q, r, s, e) * w(q, r, s, m, e);
                v(a, b, c, m, e) = B(q, a) * B(r, b) * B(s, c) * t(q, r, s, m, e);
            }
        });
}

void mass_operator::element_diagonal(vector& d_memory) {
    const std::int64_t P = nodes_along_, Q = points_along_, E = elements_;
    matrix BB(Q, P, device_);
    BB(q, i) = basis_.B(q, i) * basis_.B(q, i);
    if (dimension_ == 2)
        shaped<3>(d_memory, {P, P, E})(i, j, e) = BB(q, i) * BB(r, j) * shaped<3>(weights_, {Q, Q, E})(q, r, e);
    else
        shaped<4>(d_memory, {P, P, P, E})(i, j, k, e) =
            BB(q, i) * BB(r, j) * BB(s, k) * shaped<4>(weights_, {Q, Q, Q, E})(q, r, s, e);
}

double mass_operator::bytes_of_elements() const {
    return 8.0 * (2.0 * static_cast<double>(element_size()) + static_cast<double>(weights_.size()));
}

double mass_operator::flops() const {
    const auto P = static_cast<double>(nodes_along_), Q = static_cast<double>(points_along_);
    const double along = dimension_ == 2 ? 4 * (P * P * Q + P * Q * Q) + Q * Q
                                         : 4 * (P * P * P * Q + P * P * Q * Q + P * Q * Q * Q) + Q * Q * Q;
    return along * components_ * static_cast<double>(elements_);
}

} // namespace fem
