// random_places: random positions and strides that fit the ranges of given indices; random_statement builds on it.
#pragma once

#include "tests/statement_maker.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace ricci::tests {

struct index_range {
    std::int64_t begin = 0, end = 0;
    bool written = false; ///< by the user
    std::int64_t size() const { return end - begin; }
};

/// Where an access's elements lie, in elements of its buffer.
struct placement {
    int buffer = 0;
    std::int64_t lowest = 0, span = 1; ///< of all its elements, from element (0, ..., 0)
    std::int64_t shift = 0;            ///< of the lowest element from the buffer's start
};

/// Draws numbers, and positions over labels_.
class random_places {
  protected:
    explicit random_places(std::uint64_t seed) : random_(seed) {}

    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    bool chance(double p) { return uniform() < p; }
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    template <class C>
    auto& pick(C& from) {
        return from[static_cast<std::size_t>(between(0, std::ssize(from) - 1))];
    }
    template <class C>
    void shuffle(C& c) {
        for (std::size_t n = c.size(); n > 1; --n)
            std::swap(c[n - 1], c[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(n) - 1))]);
    }

    place plain(std::int32_t l) {
        const index_range& r = labels_[static_cast<std::size_t>(l)];
        return {r.written ? r.end + between(0, 2) : r.end, 0, {{l, 1}}, 0};
    }
    place fixed() {
        const std::int64_t extent = between(1, 4);
        return {extent, 0, {}, between(0, extent - 1)};
    }
    place affine(std::vector<lowering::affine_term> terms, bool padded) {
        std::int64_t low = 0, high = 0;
        for (const lowering::affine_term& t : terms) {
            const index_range& r = labels_[static_cast<std::size_t>(t.label)];
            const std::int64_t a = t.coefficient * r.begin, b = t.coefficient * (r.end - 1);
            low += std::min(a, b), high += std::max(a, b);
        }
        place p{std::max<std::int64_t>(1, high - low + 1 + between(0, 2)), 0, std::move(terms), -low};
        p.offset += padded ? between(-2, 1) : 0;
        if (padded) p.extent = std::max<std::int64_t>(1, p.extent + between(-2, 0));
        // An affine position that came out plain bounds its index.
        if (p.terms.size() == 1 && p.terms[0].coefficient == 1 && p.offset == 0 && !labels_[index_of(p)].written)
            p.extent = labels_[index_of(p)].end;
        return p;
    }
    static std::size_t index_of(const place& p) { return static_cast<std::size_t>(p.terms[0].label); }

    std::vector<place> right_places(const std::vector<std::int32_t>& labels, bool padded) {
        std::vector<place> places;
        for (std::size_t n = 0; n < labels.size(); ++n) {
            const double kind = uniform();
            if (kind < 0.7)
                places.push_back(plain(labels[n]));
            else if (kind < 0.8 && n + 1 < labels.size())
                places.push_back(affine({{labels[n], coefficient()}, {labels[n + 1], coefficient()}}, padded)), ++n;
            else if (kind < 0.92)
                places.push_back(affine({{labels[n], coefficient()}}, padded));
            else
                places.push_back(plain(labels[n])), places.push_back(plain(labels[n])); // a diagonal
        }
        if (chance(0.15))
            places.insert(places.begin() + between(0, static_cast<std::int64_t>(places.size())), fixed());
        return places;
    }
    std::int64_t coefficient() {
        constexpr std::int64_t some[] = {1, 1, 1, 2, 3, -1, -2};
        return pick(some);
    }

    /// Each index once on its own, or c*t + u with c at least u's size, so that no element is written twice.
    std::vector<place> left_places(const std::vector<std::int32_t>& labels, bool padded) {
        std::vector<place> places;
        for (std::size_t n = 0; n < labels.size(); ++n) {
            const double kind = uniform();
            if (kind < 0.75)
                places.push_back(plain(labels[n]));
            else if (kind < 0.83 && n + 1 < labels.size()) {
                const std::int64_t c =
                    std::max<std::int64_t>(1, labels_[static_cast<std::size_t>(labels[n + 1])].size());
                places.push_back(affine({{labels[n], chance(0.5) ? c : -c}, {labels[n + 1], 1}}, padded)), ++n;
            } else if (kind < 0.95)
                places.push_back(affine({{labels[n], coefficient()}}, padded));
            else
                places.push_back(plain(labels[n])), places.push_back(plain(labels[n]));
        }
        if (chance(0.15))
            places.insert(places.begin() + between(0, static_cast<std::int64_t>(places.size())), fixed());
        return places;
    }

    /// Gives strides: dense in a random order of the axes, sometimes with gaps or backwards; zero only where allowed.
    placement lay_out(std::vector<place>& places, bool zero_allowed, bool natural) {
        std::vector<std::size_t> order(places.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (!natural && chance(0.5)) shuffle(order);
        std::int64_t run = !natural && chance(0.1) ? 2 : 1;
        placement where;
        for (const std::size_t n : order) {
            place& p = places[n];
            p.stride = !natural && chance(0.1) ? -run : run;
            run *= std::max<std::int64_t>(1, p.extent) + (!natural && chance(0.1) ? between(1, 2) : 0);
            if (zero_allowed && chance(0.05)) p.stride = 0;
            const std::int64_t reach = p.stride * (std::max<std::int64_t>(1, p.extent) - 1);
            where.lowest += std::min<std::int64_t>(0, reach);
            where.span += std::abs(reach);
        }
        return where;
    }

    /// The axis of `p` with another index of a range that fits, or fixed.
    place reread(place p) {
        std::vector<std::int32_t> fitting;
        for (std::size_t l = 0; l < labels_.size(); ++l)
            if (labels_[l].written ? labels_[l].end <= p.extent : labels_[l].end == p.extent)
                fitting.push_back(static_cast<std::int32_t>(l));
        if (p.extent == 0 || (!fitting.empty() && chance(0.85))) {
            if (fitting.empty()) return p;
            p.terms = {{pick(fitting), 1}}, p.offset = 0;
            const index_range& r = labels_[index_of(p)];
            if (r.written && r.size() > 0 && chance(0.3)) p.offset = between(-r.begin, p.extent - r.end);
            return p;
        }
        p.terms.clear(), p.offset = between(0, p.extent - 1);
        return p;
    }

    std::mt19937_64 random_;
    std::vector<index_range> labels_;
};

} // namespace ricci::tests
