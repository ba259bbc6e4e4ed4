// winograd: convolution layers by minimal filtering, in four statements of which one is run once for the filters.
//
// Tiles of m x m outputs, which overlap in their a x a inputs, a = m + r - 1, are taken through the transforms of
// F(m, r) in both directions (A. Lavin, S. Gray, Fast algorithms for convolutional neural networks, CVPR 2016).
// Between the transforms each channel product is a matrix product over all tiles for each of the a*a places (u, v).
// Indices are as in convolution.hpp, but that x and y count tiles in V, U and M; p and q are places in a tile's
// inputs, a and e in its outputs.
#pragma once

#include "examples/cnn/winograd/convolution.hpp"
#include "examples/cnn/winograd/cook_toom.hpp"

#include <ricci/ricci.hpp>

#include <cstdint>

namespace cnn {

/// How many tiles of m outputs it takes for n.
constexpr std::int64_t tiles(std::int64_t n, std::int64_t m) { return (n + m - 1) / m; }

/// F(m, r) on a device. What is stored between transforms is of type T, but for M, in which the channels' sums lie,
/// and which is float: ricci::half and ricci::bfloat16 round the transformed image and the transformed filters only.
template <class T>
class winograd {
  public:
    using matrix = ricci::tensor<float, ricci::dyn, ricci::dyn>;
    /// U(c,k,u,v), or U(c,k,u) of filters in one direction.
    using filters_2d = ricci::tensor<T, ricci::dyn, ricci::dyn, ricci::dyn, ricci::dyn>;
    using filters_1d = ricci::tensor<T, ricci::dyn, ricci::dyn, ricci::dyn>;

    winograd(const transforms& exact, const ricci::device& device)
        : m_(exact.m), a_(exact.a()), At_(on(exact.At, device)), G_(on(exact.G, device)), Bt_(on(exact.Bt, device)) {}

    int m() const { return static_cast<int>(m_); }

    /// U of F(s,r,c,k): once for a layer.
    template <class Filters>
    filters_2d transform(const Filters& F) const;
    /// U of F(s,c,k).
    template <class Filters>
    filters_1d transform_1d(const Filters& F) const;

    /// O(x,y,k,b) = F * D + bias(k); O(x,y) reads D from x - pad, y - pad on, and what lies outside of D is zero.
    /// Record it (ricci::record) and keep the program: then V and M are locals, and the three statements may become
    /// one kernel.
    template <class Image, class Bias, class Output>
    void convolve(const Image& D, const filters_2d& U, const Bias& bias, Output& O,
                  std::array<std::int64_t, 2> pad = {0, 0}, activation then = activation::none) const;
    /// O(x,k,b) = F * D + bias(k), the same for signals D(x,c,b).
    template <class Signal, class Bias, class Output>
    void convolve_1d(const Signal& D, const filters_1d& U, const Bias& bias, Output& O, std::int64_t pad = 0,
                     activation then = activation::none) const;

  private:
    static matrix on(const exact_matrix& exact, const ricci::device& device) {
        matrix result(exact.rows, exact.columns, device);
        result.upload(exact.to_floats());
        return result;
    }

    std::int64_t m_, a_;
    matrix At_, G_, Bt_;
};

template <class T>
template <class Filters>
auto winograd<T>::transform(const Filters& F) const -> filters_2d {
    using namespace ricci::indices;
    const ricci::math_scope exact(ricci::math::full);
    filters_2d U(F.extent(2), F.extent(3), a_, a_, G_.device());
    U(c, k, u, v) = G_(u, s) * G_(v, r) * F(s, r, c, k);
    return U;
}

template <class T>
template <class Filters>
auto winograd<T>::transform_1d(const Filters& F) const -> filters_1d {
    using namespace ricci::indices;
    const ricci::math_scope exact(ricci::math::full);
    filters_1d U(F.extent(1), F.extent(2), a_, G_.device());
    U(c, k, u) = G_(u, s) * F(s, c, k);
    return U;
}

template <class T>
template <class Image, class Bias, class Output>
void winograd<T>::convolve(const Image& D, const filters_2d& U, const Bias& bias, Output& O,
                           std::array<std::int64_t, 2> pad, activation then) const {
    using namespace ricci::indices;
    using ricci::dyn, ricci::padded;
    const auto [px, py] = pad;
    const std::int64_t across = tiles(O.extent(0), m_), down = tiles(O.extent(1), m_);
    const std::int64_t pictures = D.extent(3), inputs = D.extent(2), outputs = O.extent(2);
    ricci::local<T, dyn, dyn, dyn, dyn, dyn, dyn> V(across, down, inputs, pictures, a_, a_, D.device());
    ricci::local<float, dyn, dyn, dyn, dyn, dyn, dyn> M(across, down, outputs, pictures, a_, a_, D.device());
    {
        const ricci::math_scope exact(ricci::math::full);
        V(x, y, c, b, u, v) = Bt_(u, p) * Bt_(v, q) * padded(D)(m_ * x + p - px, m_ * y + q - py, c, b);
    }
    M(x, y, k, b, u, v) = U(c, k, u, v) * V(x, y, c, b, u, v); // in TF32 where the caller allows it
    const ricci::math_scope exact(ricci::math::full);
    const auto sum = At_(a, u) * At_(e, v) * M(x, y, k, b, u, v) + bias(k);
    if (then == activation::relu)
        padded(O)(m_ * x + a, m_ * y + e, k, b) = relu(sum);
    else
        padded(O)(m_ * x + a, m_ * y + e, k, b) = sum;
}

template <class T>
template <class Signal, class Bias, class Output>
void winograd<T>::convolve_1d(const Signal& D, const filters_1d& U, const Bias& bias, Output& O, std::int64_t pad,
                              activation then) const {
    using namespace ricci::indices;
    using ricci::dyn, ricci::padded;
    const std::int64_t across = tiles(O.extent(0), m_);
    ricci::local<T, dyn, dyn, dyn, dyn> V(across, D.extent(1), D.extent(2), a_, D.device());
    ricci::local<float, dyn, dyn, dyn, dyn> M(across, O.extent(1), D.extent(2), a_, D.device());
    {
        const ricci::math_scope exact(ricci::math::full);
        V(x, c, b, u) = Bt_(u, p) * padded(D)(m_ * x + p - pad, c, b);
    }
    M(x, k, b, u) = U(c, k, u) * V(x, c, b, u);
    const ricci::math_scope exact(ricci::math::full);
    const auto sum = At_(a, u) * M(x, k, b, u) + bias(k);
    if (then == activation::relu)
        padded(O)(m_ * x + a, k, b) = relu(sum);
    else
        padded(O)(m_ * x + a, k, b) = sum;
}

} // namespace cnn
