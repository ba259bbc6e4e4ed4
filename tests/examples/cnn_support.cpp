// cnn_support: see cnn_support.hpp.
#include "tests/examples/cnn_support.hpp"

#include "runtime/backend.hpp"
#include "tests/skip.hpp"

#include <cmath>
#include <cstdlib>
#include <string_view>

namespace cnn_test {
namespace {

bool device_is_there() {
    const char* wanted = std::getenv("RICCI_DEVICE");
    return wanted == nullptr || std::string_view(wanted) != "cuda" || ricci::runtime::cuda_device_count() > 0;
}
[[maybe_unused]] const bool possible = ricci::test::skip_unless(device_is_there(), "no usable GPU");

std::int64_t place(const std::array<std::int64_t, 4>& extents, std::int64_t i, std::int64_t j, std::int64_t k,
                   std::int64_t l) {
    return i + extents[0] * (j + extents[1] * (k + extents[2] * l));
}

double inside(const layer& l, const std::vector<double>& D, std::int64_t x, std::int64_t y, std::int64_t c,
              std::int64_t b) {
    return x >= 0 && x < l.width && y >= 0 && y < l.height ? D[place(l.image(), x, y, c, b)] : 0;
}

std::vector<double> absolute(std::vector<double> values) {
    for (double& value : values) value = std::abs(value);
    return values;
}

std::vector<double> absolute(const cnn::exact_matrix& x) {
    std::vector<double> result;
    for (const auto& value : x.values) result.push_back(std::abs(value.convert_to<double>()));
    return result;
}

/// y = X x, and X x X^T for squares of numbers.
std::vector<double> apply(const std::vector<double>& X, int rows, int columns, const std::vector<double>& x,
                          bool square) {
    if (!square) {
        std::vector<double> y(rows);
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) y[i] += X[i + rows * j] * x[j];
        return y;
    }
    std::vector<double> y(rows * rows);
    for (int j = 0; j < columns; ++j)
        for (int k = 0; k < columns; ++k)
            for (int v = 0; v < rows; ++v)
                for (int u = 0; u < rows; ++u)
                    y[u + rows * v] += X[u + rows * j] * X[v + rows * k] * x[j + columns * k];
    return y;
}

} // namespace

std::vector<double> by_loops(const layer& l, const numbers& given) {
    const auto& [pad, stride, dilation] = l.at;
    std::vector<double> O(l.across * l.down * l.outputs * l.pictures);
    for (std::int64_t b = 0; b < l.pictures; ++b)
        for (std::int64_t k = 0; k < l.outputs; ++k)
            for (std::int64_t y = 0; y < l.down; ++y)
                for (std::int64_t x = 0; x < l.across; ++x) {
                    double sum = given.bias[k];
                    for (std::int64_t c = 0; c < l.inputs; ++c)
                        for (std::int64_t r = 0; r < l.r; ++r)
                            for (std::int64_t s = 0; s < l.s; ++s)
                                sum += inside(l, given.D, stride[0] * x + dilation[0] * s - pad[0],
                                              stride[1] * y + dilation[1] * r - pad[1], c, b) *
                                       given.F[place(l.filters(), s, r, c, k)];
                    O[place(l.output(), x, y, k, b)] = l.relu && sum < 0 ? 0 : sum;
                }
    return O;
}

std::vector<double> magnitudes(const layer& l, const numbers& given) {
    return by_loops(l, {absolute(given.D), absolute(given.F), absolute(given.bias)});
}

std::vector<double> magnitudes(const layer& l, const numbers& given, const cnn::transforms& t, double least,
                               bool along_y) {
    const auto At = absolute(t.At), G = absolute(t.G), Bt = absolute(t.Bt);
    const int m = t.m, a = t.a(), r = t.r, down = along_y ? m : 1, a_down = along_y ? a : 1, r_down = along_y ? r : 1;
    const auto transformed = [&](const std::vector<double>& X, int rows, int columns, const std::vector<double>& x) {
        auto y = apply(X, rows, columns, absolute(x), along_y);
        for (double& value : y) value += least;
        return y;
    };
    std::vector<std::vector<double>> U; // of c, k
    for (std::int64_t k = 0; k < l.outputs; ++k)
        for (std::int64_t c = 0; c < l.inputs; ++c) {
            const auto* first = &given.F[place(l.filters(), 0, 0, c, k)];
            U.push_back(transformed(G, a, r, std::vector<double>(first, first + r * r_down)));
        }
    std::vector<double> O(l.across * l.down * l.outputs * l.pictures);
    for (std::int64_t b = 0; b < l.pictures; ++b)
        for (std::int64_t y = 0; y < l.down; y += down)
            for (std::int64_t x = 0; x < l.across; x += m) {
                std::vector<std::vector<double>> V;
                for (std::int64_t c = 0; c < l.inputs; ++c) {
                    std::vector<double> d;
                    for (int q = 0; q < a_down; ++q)
                        for (int p = 0; p < a; ++p)
                            d.push_back(inside(l, given.D, x + p - l.at.pad[0], y + q - l.at.pad[1], c, b));
                    V.push_back(transformed(Bt, a, a, d));
                }
                for (std::int64_t k = 0; k < l.outputs; ++k) {
                    std::vector<double> M(a * a_down);
                    for (std::int64_t c = 0; c < l.inputs; ++c)
                        for (std::size_t n = 0; n < M.size(); ++n) M[n] += U[c + l.inputs * k][n] * V[c][n];
                    const auto tile = apply(At, m, a, M, along_y);
                    for (int e = 0; e < down && y + e < l.down; ++e)
                        for (int i = 0; i < m && x + i < l.across; ++i)
                            O[place(l.output(), x + i, y + e, k, b)] = tile[i + m * e] + std::abs(given.bias[k]);
                }
            }
    return O;
}

} // namespace cnn_test
