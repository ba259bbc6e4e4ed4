// problem: the statements of a convolution, and its costs.
#include "bench/conv/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ricci::bench::conv {

namespace {

using lowering::scalar_type;

constexpr const char* direct_text = "O(x,y,k,b) = relu(padded(D)(x+s-1, y+r-1, c, b)*F(s,r,c,k) + bias(k))";

// Below, $ stands for the tile.
constexpr const char* tiled_text = "V(x,y,c,b,u,v) = Bt(u,p)*Bt(v,q)*padded(D)($*x+p-1, $*y+q-1, c, b);"
                                   "M(x,y,k,b,u,v) = U(c,k,u,v)*V(x,y,c,b,u,v);"
                                   "padded(O)($*x+a, $*y+e, k, b) = relu(At(a,u)*At(e,v)*M(x,y,k,b,u,v) + bias(k))";

std::string with_tile(const char* text, std::int64_t tile) {
    std::string out;
    for (const char* c = text; *c; ++c) out += *c == '$' ? std::to_string(tile) : std::string(1, *c);
    return out;
}

/// Both factors of each term are rounded to 2 bytes once more.
constexpr double rounded_tiles = 8 * 0x1p-11;

} // namespace

std::string problem::algorithm() const { return tile == 0 ? "direct" : fmt::format("f{}", tile); }

double problem::flops() const {
    return 2.0 * static_cast<double>(terms()) * static_cast<double>(of.filters) * static_cast<double>(of.pixels()) *
           static_cast<double>(batch);
}

double problem::bytes() const {
    const auto pictures = static_cast<double>(of.pixels()) * static_cast<double>(batch);
    return static_cast<double>(lowering::size_of(type)) *
           (pictures * static_cast<double>(of.channels + of.filters) +
            static_cast<double>(terms()) * static_cast<double>(of.filters));
}

const std::vector<std::string>& algorithm_names() {
    static const std::vector<std::string> names{"direct", "f2", "f4", "f6"};
    return names;
}

std::int64_t tile_of(const std::string& algorithm) { return algorithm == "direct" ? 0 : algorithm[1] - '0'; }

text_program notation_of(const problem& p) {
    const auto& [C, K, W, H] = p.of;
    const std::int64_t B = p.batch, R = filter_side;
    text_program out;
    out.operands = {dense("D", p.type, {W, H, C, B}), dense("F", p.type, {R, R, C, K}), dense("bias", p.type, {K}),
                    dense("O", p.type, {W, H, K, B})};
    if (p.tile == 0) {
        out.statements = parse_text(direct_text);
        return out;
    }
    const std::int64_t m = p.tile, a = m + R - 1, X = (W + m - 1) / m, Y = (H + m - 1) / m;
    out.statements = parse_text(with_tile(tiled_text, m));
    for (text_operand& o :
         std::vector{dense("U", p.type, {C, K, a, a}), dense("Bt", p.type, {a, a}), dense("At", p.type, {m, a})})
        out.operands.push_back(std::move(o));
    out.intermediates = {dense("V", p.type, {X, Y, C, B, a, a}), dense("M", scalar_type::f32, {X, Y, K, B, a, a})};
    return out;
}

std::vector<double> transformed(const problem& p, const minimal_filtering& by, const std::vector<double>& filters) {
    const std::int64_t size = by.size(), R = filter_side, count = p.of.channels * p.of.filters;
    std::vector<double> all(static_cast<std::size_t>(count * size * size));
    for (std::int64_t n = 0; n < count; ++n) { // c + C*k, in both orders
        const double* const f = filters.data() + n * R * R;
        for (std::int64_t u = 0; u < size; ++u) {
            double along[filter_side] = {};
            for (std::int64_t r = 0; r < R; ++r)
                for (std::int64_t s = 0; s < R; ++s) along[r] += by.G(u, s) * f[s + R * r];
            for (std::int64_t v = 0; v < size; ++v) {
                double sum = 0;
                for (std::int64_t r = 0; r < R; ++r) sum += by.G(v, r) * along[r];
                all[static_cast<std::size_t>(n + count * (u + size * v))] = sum;
            }
        }
    }
    return all;
}

error_bound bound_of(const problem& p, lowering::math_mode math) {
    product sum;
    sum.k = p.terms() + 1;
    sum.a.type = sum.b.type = sum.c.type = p.type, sum.math = math;
    error_bound bound = bench::bound_of(sum);
    if (p.tile == 0) return bound;
    if (lowering::size_of(p.type) == 2) bound.sum += rounded_tiles;
    const double growth = make_minimal_filtering(p.tile, filter_side).error_growth();
    bound.sum *= growth * growth;
    return bound;
}

} // namespace ricci::bench::conv
