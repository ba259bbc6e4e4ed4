// cnn_layers_test: convolution layers, direct and by F(m, r), against plain loops: random shapes, memory orders and
// types. RICCI_TEST_N of them from the seed RICCI_TEST_SEED on; a failure prints its seed.
#include "examples/cnn/winograd/winograd.hpp"
#include "tests/catch.hpp"
#include "tests/examples/cnn_support.hpp"
#include "tests/seeds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>

using namespace cnn_test;
using ricci::dyn, ricci::half, ricci::tests::number_from_environment;

namespace {

/// Half a unit in the last place of 1: how far rounding may be off.
template <class T>
constexpr double roundoff = sizeof(T) == 2 ? 0x1p-11 : 0x1p-24;

/// A tensor in memory of any order with gaps, seen as a view with its usual indices.
template <class T>
class in_order {
  public:
    /// order[0] is the fastest index.
    in_order(const std::array<std::int64_t, 4>& extents, const std::array<int, 4>& order, std::int64_t gap)
        : extents_(extents), memory_(strides_for(order, gap), ricci::default_device()) {}
    ricci::view<T, 4> view() { return {memory_.data(), extents_, strides_, memory_.device()}; }
    void set(const std::vector<double>& values) {
        std::vector<T> all(memory_.size());
        each([&](std::int64_t n, std::int64_t at) { all[at] = T(static_cast<float>(values[n])); });
        memory_.upload(all);
    }
    std::vector<double> get() const {
        const std::vector<T> all = memory_.download();
        std::vector<double> values(extents_[0] * extents_[1] * extents_[2] * extents_[3]);
        each([&](std::int64_t n, std::int64_t at) { values[n] = static_cast<float>(all[at]); });
        return values;
    }

  private:
    /// Returns the size of the memory.
    std::int64_t strides_for(const std::array<int, 4>& order, std::int64_t gap) {
        std::int64_t size = 1;
        for (const int axis : order) {
            strides_[axis] = size;
            size = size * std::max<std::int64_t>(extents_[axis], 1) + gap;
        }
        return size;
    }
    template <class Do>
    void each(const Do& work) const {
        std::int64_t n = 0;
        for (std::int64_t l = 0; l < extents_[3]; ++l)
            for (std::int64_t k = 0; k < extents_[2]; ++k)
                for (std::int64_t j = 0; j < extents_[1]; ++j)
                    for (std::int64_t i = 0; i < extents_[0]; ++i)
                        work(n++, i * strides_[0] + j * strides_[1] + k * strides_[2] + l * strides_[3]);
    }

    std::array<std::int64_t, 4> extents_, strides_{};
    ricci::tensor<T, dyn> memory_;
};

/// Where `found` is further from `right` than `bound`; empty if nowhere.
std::string compare(const std::vector<double>& found, const std::vector<double>& right,
                    const std::vector<double>& bound) {
    for (std::size_t n = 0; n < right.size(); ++n)
        if (!(std::abs(found[n] - right[n]) <= bound[n]))
            return fmt::format("element {}: {} instead of {}, bound {}", n, found[n], right[n], bound[n]);
    return {};
}

/// Relative to the magnitudes: so many roundings of float on the way, and the stored result's own.
template <class T>
std::vector<double> bounds(const std::vector<double>& magnitude, const std::vector<double>& right, double roundings,
                           double others) {
    std::vector<double> result(right.size());
    for (std::size_t n = 0; n < right.size(); ++n)
        result[n] = magnitude[n] * (roundings * 0x1p-24 + others) +
                    roundoff<T> * (std::abs(right[n]) + magnitude[n] * others) + 0x1p-25;
    return result;
}

struct random_layer {
    layer sizes;
    int m = 0;        ///< 0: direct
    bool both = true; ///< in both directions
    std::array<int, 4> order_D{0, 1, 2, 3}, order_F{0, 1, 2, 3}, order_O{0, 1, 2, 3};
    std::int64_t gap = 0;
};

std::string text(const random_layer& l) {
    const layer& s = l.sizes;
    return fmt::format("D {} F {} O {} pad {} stride {} dilation {} relu {} m {} both {} orders {} {} {} gap {}",
                       s.image(), s.filters(), s.output(), s.at.pad, s.at.stride, s.at.dilation, s.relu, l.m, l.both,
                       l.order_D, l.order_F, l.order_O, l.gap);
}

random_layer make_layer(std::mt19937_64& random) {
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    random_layer l;
    layer& s = l.sizes;
    s.width = between(1, 15), s.height = between(1, 15), s.inputs = between(1, 9), s.pictures = between(1, 3);
    s.outputs = between(1, 9), s.relu = between(0, 1) == 1;
    s.s = between(1, 5), s.r = between(1, 5);
    if (between(0, 2) == 0) {
        for (int d = 0; d < 2; ++d)
            s.at.pad[d] = between(0, 3), s.at.stride[d] = between(1, 3), s.at.dilation[d] = between(1, 3);
    } else {
        l.m = static_cast<int>(between(1, 6)), l.both = between(0, 3) != 0;
        s.r = l.both ? s.s : 1;
        s.at.pad = {between(0, s.s), l.both ? between(0, s.s) : 0};
        if (!l.both) s.height = 1;
    }
    s.across = cnn::output_extent(s.width, s.s, s.at.pad[0], s.at.stride[0], s.at.dilation[0]);
    s.down = cnn::output_extent(s.height, s.r, s.at.pad[1], s.at.stride[1], s.at.dilation[1]);
    if (between(0, 9) == 0) s.across += 2, s.down += l.m && !l.both ? 0 : 1; // further than the filter reaches
    if (between(0, 1)) {
        std::shuffle(l.order_D.begin(), l.order_D.end(), random);
        std::shuffle(l.order_F.begin(), l.order_F.end(), random);
        std::shuffle(l.order_O.begin(), l.order_O.end(), random);
        l.gap = between(0, 2);
    }
    return l;
}

/// Runs it and says what is wrong, if anything is.
template <class T>
std::string run(const random_layer& l, std::mt19937_64& random) {
    const layer& s = l.sizes;
    const numbers given{random_numbers<T>(s.width * s.height * s.inputs * s.pictures, random),
                        random_numbers<T>(s.s * s.r * s.inputs * s.outputs, random),
                        random_numbers<float>(s.outputs, random)};
    in_order<T> D(s.image(), l.order_D, l.gap), F(s.filters(), l.order_F, l.gap), O(s.output(), l.order_O, l.gap);
    ricci::tensor<float, dyn> bias(s.outputs, ricci::default_device());
    D.set(given.D), F.set(given.F);
    bias.upload(std::vector<float>(given.bias.begin(), given.bias.end()));
    const auto right = by_loops(s, given);
    const auto then = s.relu ? cnn::activation::relu : cnn::activation::none;
    auto in = D.view(), filters = F.view(), out = O.view();
    const auto products = static_cast<double>(s.s * s.r * s.inputs);
    if (l.m == 0) {
        cnn::convolve(in, filters, bias, out, s.at, then);
        // Each product and addition rounds once; a float product of three TF32 ones counts 4.
        return compare(O.get(), right, bounds<T>(magnitudes(s, given), right, products + 5, 0));
    }
    const auto t = cnn::cook_toom(l.m, static_cast<int>(s.s));
    const cnn::winograd<T> w(t, ricci::default_device());
    // Roundings on the way of a number: a transform's entries and its sums, in each direction, before, between and
    // after the channels' sum. In half U and V are rounded once each, subnormal ones by at most 2^-25.
    const double a = t.a(), roundings = 2 * ((a + 5) + (s.s + 5) + (a + 5)) + static_cast<double>(s.inputs) + 5;
    const double others = sizeof(T) == 2 ? 2 * roundoff<T> + roundoff<T> * roundoff<T> : 0;
    const double least = sizeof(T) == 2 ? 0x1p-14 : 0;
    if (l.both) {
        const auto U = w.transform(filters);
        auto layer_program = ricci::record([&] { w.convolve(in, U, bias, out, s.at.pad, then); });
        layer_program();
    } else { // y has extent 1
        const auto flat = [](const ricci::view<T, 4>& v) {
            return ricci::view<T, 3>(v.data(), {v.extent(0), v.extent(2), v.extent(3)},
                                     {v.strides()[0], v.strides()[2], v.strides()[3]}, v.device());
        };
        auto signal = flat(in), taps = flat(filters), result = flat(out);
        const auto U = w.transform_1d(taps);
        auto layer_program = ricci::record([&] { w.convolve_1d(signal, U, bias, result, s.at.pad[0], then); });
        layer_program();
    }
    return compare(O.get(), right, bounds<T>(magnitudes(s, given, t, least, l.both), right, roundings, others));
}

} // namespace

TEST_CASE("random layers", "[random]") {
    const auto first = number_from_environment("RICCI_TEST_SEED", 1),
               count = number_from_environment("RICCI_TEST_N", 60);
    int direct = 0, strided = 0, one = 0, along = 0, small = 0, channels_first = 0, large_filter = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        std::mt19937_64 random(seed);
        const auto l = make_layer(random);
        INFO("RICCI_TEST_SEED=" << seed << " RICCI_TEST_N=1: " << text(l));
        CHECK(run<float>(l, random) == "");
        if (seed % 3 == 0) CHECK(run<half>(l, random) == "");
        const layer& s = l.sizes;
        direct += l.m == 0, strided += s.at.stride[0] > 1 && s.at.dilation[1] > 1, one += s.s == 1 && s.r == 1;
        along += !l.both, small += l.m > 0 && s.width < l.m && s.height < l.m;
        channels_first += l.order_D[0] == 2, large_filter += l.m > 0 && s.s == 5;
    }
    if (count < 60) return;
    // Each kind is among them.
    CHECK(direct > 0);
    CHECK(strided > 0);
    CHECK(one > 0);
    CHECK(along > 0);
    CHECK(small > 0);
    CHECK(channels_first > 0);
    CHECK(large_filter > 0);
}

TEST_CASE("TF32, where it is allowed, rounds what goes into the channels' products and no more") {
    std::mt19937_64 random(1);
    random_layer l;
    l.m = 4;
    l.sizes = {21, 10, 32, 2, 21, 10, 48, 3, 3, {{1, 1}, {1, 1}, {1, 1}}, false};
    const layer& s = l.sizes;
    const numbers given{random_numbers<float>(s.width * s.height * s.inputs * s.pictures, random),
                        random_numbers<float>(s.s * s.r * s.inputs * s.outputs, random),
                        random_numbers<float>(s.outputs, random)};
    in_order<float> D(s.image(), l.order_D, 0), F(s.filters(), l.order_F, 0), O(s.output(), l.order_O, 0);
    ricci::tensor<float, dyn> bias(s.outputs, ricci::default_device());
    D.set(given.D), F.set(given.F);
    bias.upload(std::vector<float>(given.bias.begin(), given.bias.end()));
    auto in = D.view(), filters = F.view(), out = O.view();
    const auto t = cnn::cook_toom(l.m, 3);
    const cnn::winograd<float> w(t, ricci::default_device());
    const auto U = w.transform(filters);
    auto program = ricci::record([&] { w.convolve(in, U, bias, out, s.at.pad); });
    const auto right = by_loops(s, given);
    for (const auto mode : {ricci::math::full, ricci::math::tf32}) {
        const ricci::math_scope scope(mode);
        program();
        const double others = mode == ricci::math::tf32 ? 2 * 0x1p-11 + 0x1p-22 : 0;
        CHECK(compare(O.get(), right,
                      bounds<float>(magnitudes(s, given, t, 0, true), right, 100.0 + s.inputs, others)) == "");
    }
}
