// reference: plain loops over a filter's channels, rows and columns.
#include "bench/conv/reference.hpp"

#include "bench/read_values.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace ricci::bench::conv {

namespace {

constexpr double most_flops = 5e8; ///< of all sums, if all are made
constexpr std::int64_t drawn = 4096;

struct place {
    std::int64_t x = 0, y = 0, k = 0, b = 0;
};

std::int64_t results_of(const problem& p) { return p.of.pixels() * p.of.filters * p.batch; }

std::int64_t number_of(const problem& p, const place& at) {
    return at.x + p.of.width * (at.y + p.of.height * (at.k + p.of.filters * at.b));
}

std::vector<place> all_places(const problem& p) {
    std::vector<place> all;
    for (std::int64_t b = 0; b < p.batch; ++b)
        for (std::int64_t k = 0; k < p.of.filters; ++k)
            for (std::int64_t y = 0; y < p.of.height; ++y)
                for (std::int64_t x = 0; x < p.of.width; ++x) all.push_back({x, y, k, b});
    return all;
}

std::vector<place> drawn_places(const problem& p) {
    std::mt19937_64 random(1);
    const auto below = [&](std::int64_t count) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
    };
    const auto along =
        [&](std::int64_t count) { // the first and the last, where tiles reach outside: one in eight each
            const std::int64_t which = below(8);
            return which == 0 ? 0 : which == 1 ? count - 1 : below(count);
        };
    std::vector<place> all{{}, {p.of.width - 1, p.of.height - 1, p.of.filters - 1, p.batch - 1}};
    while (static_cast<std::int64_t>(all.size()) < drawn)
        all.push_back({along(p.of.width), along(p.of.height), along(p.of.filters), along(p.batch)});
    std::sort(all.begin(), all.end(),
              [&](const place& a, const place& b) { return number_of(p, a) < number_of(p, b); });
    return all;
}

} // namespace

reference::reference(const problem& p, const std::vector<void*>& operands, device where) : p_(p), where_(where) {
    const auto& [C, K, W, H] = p.of;
    const auto vector_of = [&](tensor_number which, std::int64_t count) {
        return read_values<double>(p.type, operands[which], 0, count, where);
    };
    const std::int64_t R = filter_side, picture = C * W * H;
    const auto F = vector_of(at_F, R * R * C * K), bias = vector_of(at_bias, K);
    all_ = 2.0 * static_cast<double>(p.terms()) * static_cast<double>(results_of(p)) <= most_flops;
    std::vector<double> D; // one picture
    std::int64_t here = -1;
    for (const place& at : all_ ? all_places(p) : drawn_places(p)) {
        if (at.b != here) {
            D = read_values<double>(p.type, operands[at_D], at.b * picture, picture, where);
            here = at.b;
        }
        double value = bias[static_cast<std::size_t>(at.k)], squares = value * value;
        for (std::int64_t c = 0; c < C; ++c)
            for (std::int64_t r = 0; r < R; ++r)
                for (std::int64_t s = 0; s < R; ++s) {
                    const std::int64_t x = at.x + s - 1, y = at.y + r - 1;
                    if (x < 0 || x >= W || y < 0 || y >= H) continue;
                    const double term = D[static_cast<std::size_t>(x + W * (y + H * c))] *
                                        F[static_cast<std::size_t>(s + R * (r + R * (c + C * at.k)))];
                    value += term, squares += term * term;
                }
        sums_.push_back({number_of(p, at), std::max(value, 0.0), std::sqrt(squares)});
    }
}

findings reference::check(const void* results, const error_bound& bound) const {
    std::vector<double> all;
    if (all_) all = read_values<double>(p_.type, results, 0, results_of(p_), where_);
    findings found;
    for (const sum& s : sums_) {
        const double stored = all_ ? all[static_cast<std::size_t>(s.place)]
                                   : read_values<double>(p_.type, results, s.place, 1, where_).front();
        compare(found, bound, stored - s.value, s.value, s.size, s.place);
    }
    return found;
}

} // namespace ricci::bench::conv
