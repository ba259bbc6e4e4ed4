// diffusion_operator: interpolate, differentiate at the points, multiply there, and back.
#include "examples/fem/operators/diffusion_operator.hpp"

namespace fem {
namespace {

using namespace ricci::indices;
/// t(q,r,e) from w(q,r,e), both at the points. S(q,r,n,e): n = 0 xx, 1 xy, 2 yy.
template <class Metric, class Values, class Result, std::size_t Rank, class... Component>
void flux_2d(const matrix& D, const Metric& S, Values& w, Result& t, const std::array<std::int64_t, Rank>& sizes,
             Component... m) {
    auto gx = make_local(sizes, D.device()), gy = make_local(sizes, D.device());
    auto hx = make_local(sizes, D.device()), hy = make_local(sizes, D.device());
    gx(f, r, m..., e) = D(f, q) * w(q, r, m..., e);
    gy(q, f, m..., e) = D(f, r) * w(q, r, m..., e);
    hx(q, r, m..., e) = S(q, r, 0, e) * gx(q, r, m..., e) + S(q, r, 1, e) * gy(q, r, m..., e);
    hy(q, r, m..., e) = S(q, r, 1, e) * gx(q, r, m..., e) + S(q, r, 2, e) * gy(q, r, m..., e);
    t(q, r, m..., e) = D(f, q) * hx(f, r, m..., e) + D(f, r) * hy(q, f, m..., e);
}

/// t(q,r,s,e) from w(q,r,s,e). S(q,r,s,n,e): n = 0 xx, 1 xy, 2 xz, 3 yy, 4 yz, 5 zz.
template <class Metric, class Values, class Result, std::size_t Rank, class... Component>
void flux_3d(const matrix& D, const Metric& S, Values& w, Result& t, const std::array<std::int64_t, Rank>& sizes,
             Component... m) {
    const auto& at = D.device();
    auto gx = make_local(sizes, at), gy = make_local(sizes, at), gz = make_local(sizes, at);
    auto hx = make_local(sizes, at), hy = make_local(sizes, at), hz = make_local(sizes, at);
    gx(f, r, s, m..., e) = D(f, q) * w(q, r, s, m..., e);
    gy(q, f, s, m..., e) = D(f, r) * w(q, r, s, m..., e);
    gz(q, r, f, m..., e) = D(f, s) * w(q, r, s, m..., e);
    hx(q, r, s, m..., e) = S(q, r, s, 0, e) * gx(q, r, s, m..., e) + S(q, r, s, 1, e) * gy(q, r, s, m..., e) +
                           S(q, r, s, 2, e) * gz(q, r, s, m..., e);
    hy(q, r, s, m..., e) = S(q, r, s, 1, e) * gx(q, r, s, m..., e) + S(q, r, s, 3, e) * gy(q, r, s, m..., e) +
                           S(q, r, s, 4, e) * gz(q, r, s, m..., e);
    hz(q, r, s, m..., e) = S(q, r, s, 2, e) * gx(q, r, s, m..., e) + S(q, r, s, 4, e) * gy(q, r, s, m..., e) +
                           S(q, r, s, 5, e) * gz(q, r, s, m..., e);
    t(q, r, s, m..., e) =
        D(f, q) * hx(f, r, s, m..., e) + D(f, r) * hy(q, f, s, m..., e) + D(f, s) * hz(q, r, f, m..., e);
}

} // namespace

diffusion_operator::diffusion_operator(const h1_space& space, const tables& basis, const element_map& map,
                                       int components)
    : element_operator(space, basis, components), metric_(map.diffusion()) {}

diffusion_operator::diffusion_operator(const h1_space& space, const tables& basis, const element_map& map,
                                       const ricci::view<const double, 4>& coefficient, int components)
    : element_operator(space, basis, components), metric_(map.diffusion(coefficient)) {}

void diffusion_operator::statements(bool global) {
    const std::int64_t Q = points_along_, E = elements_;
    const matrix &B = basis_.B, &D = basis_.D;
    on_vectors(
        global,
        [&]<class... Component>(auto& u, auto& v, Component... m) {
            const auto S = shaped<4>(metric_, {Q, Q, 3, E});
            const auto sizes = extents<3 + sizeof...(m)>(Q);
            if (basis_.collocated) {
                flux_2d(D, S, u, v, sizes, m...);
                return;
            }
            auto w = make_local(sizes, device_), t = make_local(sizes, device_);
            w(q, r, m..., e) = B(q, i) * B(r, j) * u(i, j, m..., e);
            flux_2d(D, S, w, t, sizes, m...);
            v(a, b, m..., e) = B(q, a) * B(r, b) * t(q, r, m..., e);
        },
        [&]<class... Component>(auto& u, auto& v, Component... m) {
            const auto S = shaped<5>(metric_, {Q, Q, Q, 6, E});
            const auto sizes = extents<4 + sizeof...(m)>(Q);
            if (basis_.collocated) {
                flux_3d(D, S, u, v, sizes, m...);
                return;
            }
            auto w = make_local(sizes, device_), t = make_local(sizes, device_);
            w(q, r, s, m..., e) = B(q, i) * B(r, j) * B(s, k) * u(i, j, k, m..., e);
            flux_3d(D, S, w, t, sizes, m...);
            v(a, b, c, m..., e) = B(q, a) * B(r, b) * B(s, c) * t(q, r, s, m..., e);
        });
}

void diffusion_operator::element_diagonal(vector& d_memory) {
    const std::int64_t P = nodes_along_, Q = points_along_, E = elements_;
    const matrix &B = basis_.B, &G = basis_.G;
    matrix BB(Q, P, device_), BG(Q, P, device_), GG(Q, P, device_);
    BB(q, i) = B(q, i) * B(q, i);
    BG(q, i) = B(q, i) * G(q, i);
    GG(q, i) = G(q, i) * G(q, i);
    if (dimension_ == 2) {
        const auto S = shaped<4>(metric_, {Q, Q, 3, E});
        shaped<3>(d_memory, {P, P, E})(i, j, e) = GG(q, i) * BB(r, j) * S(q, r, 0, e) +
                                                  2 * BG(q, i) * BG(r, j) * S(q, r, 1, e) +
                                                  BB(q, i) * GG(r, j) * S(q, r, 2, e);
    } else {
        const auto S = shaped<5>(metric_, {Q, Q, Q, 6, E});
        shaped<4>(d_memory, {P, P, P, E})(i, j, k, e) = GG(q, i) * BB(r, j) * BB(s, k) * S(q, r, s, 0, e) +
                                                        2 * BG(q, i) * BG(r, j) * BB(s, k) * S(q, r, s, 1, e) +
                                                        2 * BG(q, i) * BB(r, j) * BG(s, k) * S(q, r, s, 2, e) +
                                                        BB(q, i) * GG(r, j) * BB(s, k) * S(q, r, s, 3, e) +
                                                        2 * BB(q, i) * BG(r, j) * BG(s, k) * S(q, r, s, 4, e) +
                                                        BB(q, i) * BB(r, j) * GG(s, k) * S(q, r, s, 5, e);
    }
}

double diffusion_operator::bytes_of_elements() const {
    return 8.0 * (2.0 * static_cast<double>(element_size()) + static_cast<double>(metric_.size()));
}

double diffusion_operator::flops() const {
    const auto P = static_cast<double>(nodes_along_), Q = static_cast<double>(points_along_);
    const double interpolation = basis_.collocated ? 0
                                 : dimension_ == 2 ? 4 * (P * P * Q + P * Q * Q)
                                                   : 4 * (P * P * P * Q + P * P * Q * Q + P * Q * Q * Q);
    const double at_points = dimension_ == 2 ? 8 * Q * Q * Q + 6 * Q * Q : 12 * Q * Q * Q * Q + 15 * Q * Q * Q;
    return (interpolation + at_points) * components_ * static_cast<double>(elements_);
}

} // namespace fem
