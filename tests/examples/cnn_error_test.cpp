// cnn_error_test: how far F(m, 3) is off by m, on the data of the table in docs/cnn.md, which must hold.
#include "examples/cnn/winograd/winograd.hpp"
#include "tests/catch.hpp"
#include "tests/examples/cnn_support.hpp"

#include <fmt/format.h>

#include <cmath>

using namespace cnn_test;
using ricci::dyn;

namespace {

struct relative_error {
    double rms, largest; ///< relative to the result's root mean square
};

/// A layer from 64 channels, 3x3, of data uniform in [-1, 1]; F(m, 3), or direct where m is 0. Its operands are
/// rounded to T before: that is not part of the error of a direct layer.
template <class T>
relative_error measure(int m, const std::vector<cnn::rational>& points = {}) {
    using image = ricci::tensor<T, dyn, dyn, dyn, dyn>;
    const layer l{60, 60, 64, 1, 60, 60, 8, 3, 3, {{1, 1}, {1, 1}, {1, 1}}, false};
    std::mt19937_64 random(1);
    numbers given{random_numbers<float>(60 * 60 * 64, random), random_numbers<float>(9 * 64 * 8, random),
                  std::vector<double>(8)};
    const auto device = ricci::default_device();
    image D(60, 60, 64, 1, device), F(3, 3, 64, 8, device);
    ricci::tensor<float, dyn, dyn, dyn, dyn> O(60, 60, 8, 1, device);
    ricci::tensor<float, dyn> bias(8, device);
    const auto upload = [](image& to, const std::vector<double>& values) {
        std::vector<T> rounded;
        for (const double value : values) rounded.push_back(T(static_cast<float>(value)));
        to.upload(rounded);
    };
    upload(D, given.D), upload(F, given.F);
    if (m == 0) {
        cnn::convolve(D, F, bias, O, l.at);
    } else {
        const auto exact = points.empty() ? cnn::cook_toom(m, 3) : cnn::cook_toom(m, 3, points);
        const cnn::winograd<T> w(exact, device);
        const auto U = w.transform(F);
        auto run = ricci::record([&] { w.convolve(D, U, bias, O, {1, 1}); });
        run();
    }
    const auto right = by_loops(l, given);
    const auto found = O.download();
    double errors = 0, squares = 0, largest = 0;
    for (std::size_t n = 0; n < right.size(); ++n) {
        const double error = found[n] - right[n];
        errors += error * error, squares += right[n] * right[n], largest = std::max(largest, std::abs(error));
    }
    return {std::sqrt(errors / squares), largest / std::sqrt(squares / static_cast<double>(right.size()))};
}

} // namespace

TEST_CASE("the error grows with the tile as docs/cnn.md says", "[numerics]") {
    const std::vector<cnn::rational> own{0, 1, -1, {1, 2}, -2};
    struct row {
        int m;
        std::vector<cnn::rational> points;
        double f32_rms, f32_largest, f16_rms, f16_largest;
    };
    for (const row& r : {row{0, {}, 1.6e-7, 1.1e-6, 2.6e-4, 1.1e-3}, row{2, {}, 2.6e-7, 1.4e-6, 5.5e-4, 2.5e-3},
                         row{3, {}, 9.3e-7, 9.2e-6, 1.8e-3, 1.2e-2}, row{4, {}, 1.7e-6, 1.8e-5, 3.2e-3, 3.4e-2},
                         row{4, own, 1.1e-6, 7.3e-6, 2.0e-3, 1.2e-2}, row{5, {}, 2.7e-6, 2.9e-5, 4.8e-3, 4.1e-2},
                         row{6, {}, 3.3e-6, 3.9e-5, 6.0e-3, 5.4e-2}}) {
        const auto f32 = measure<float>(r.m, r.points), f16 = measure<ricci::half>(r.m, r.points);
        INFO(fmt::format("m {}: f32 {:.1e} {:.1e} f16 {:.1e} {:.1e}", r.m, f32.rms, f32.largest, f16.rms,
                         f16.largest));
        // Which sums are added first, and so how the errors come together, is the kernel's choice; a GPU multiplies in
        // parts of 11 bits: docs/cnn.md.
        const double room = ricci::default_device().is_cuda() ? 2 : 1.5;
        CHECK(f32.rms < room * r.f32_rms);
        CHECK(f16.rms < 1.5 * r.f16_rms);
        CHECK(f32.largest < 2.5 * r.f32_largest);
        CHECK(f16.largest < 2.5 * r.f16_largest);
        CHECK(f32.largest < 1e-4);
    }
}
