// convolution: layers of convolution, each one statement, for tensors and views of any memory order.
//
// Indices: x and y are places of a picture, horizontal and vertical; c input channels, k output channels, b pictures;
// s and r places in the filter. An image is D(x,y,c,b), a layer's output O(x,y,k,b), its filters F(s,r,c,k). For
// tensors of ricci this is NCHW and OIHW as other frameworks have it; NHWC and the rest are views with other strides.
#pragma once

#include <ricci/ricci.hpp>

#include <array>
#include <cstdint>

namespace cnn {

enum class activation { none, relu };

/// Where an output reads: O(x, y) the inputs D(stride*x + dilation*s - pad, ...), horizontally and vertically. What
/// lies outside of D is zero. O's extents say how far it goes, so there is no padding behind the end to be given.
struct placement {
    std::array<std::int64_t, 2> pad{0, 0}, stride{1, 1}, dilation{1, 1};
};

/// How many outputs there are of n inputs, with `pad` zeros at both ends, that a filter with r taps covers. Negative
/// or zero where it never fits.
constexpr std::int64_t output_extent(std::int64_t n, std::int64_t r, std::int64_t pad, std::int64_t stride = 1,
                                     std::int64_t dilation = 1) {
    const std::int64_t last = n + 2 * pad - (dilation * (r - 1) + 1);
    return last < 0 ? 0 : last / stride + 1;
}

/// O = F * D + bias(k): the definition.
template <class Image, class Filters, class Bias, class Output>
void convolve(const Image& D, const Filters& F, const Bias& bias, Output& O, const placement& at,
              activation then = activation::none) {
    using namespace ricci::indices;
    const auto [px, py] = at.pad;
    const auto [tx, ty] = at.stride;
    const auto [dx, dy] = at.dilation;
    const auto sum = ricci::padded(D)(tx * x + dx * s - px, ty * y + dy * r - py, c, b) * F(s, r, c, k) + bias(k);
    if (then == activation::relu)
        O(x, y, k, b) = relu(sum);
    else
        O(x, y, k, b) = sum;
}

} // namespace cnn
