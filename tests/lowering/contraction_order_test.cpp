// contraction_order_test: the order of pairs against trying all orders.
#include "lowering/contraction_order.hpp"
#include "lowering/lower.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace ricci::lowering;

double size_of(const label_set& labels, const std::vector<double>& extents) {
    double size = 1;
    for (std::size_t a = 0; a < extents.size(); ++a)
        if (labels[a]) size *= extents[a];
    return size;
}

/// The least flops over all ways to contract pairs.
double least_flops(const std::vector<label_set>& items, const label_set& kept, const std::vector<double>& extents) {
    if (items.size() == 1) return 0;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t x = 0; x < items.size(); ++x)
        for (std::size_t y = x + 1; y < items.size(); ++y) {
            std::vector<label_set> rest;
            label_set needed = kept;
            for (std::size_t z = 0; z < items.size(); ++z)
                if (z != x && z != y) rest.push_back(items[z]), needed |= items[z];
            rest.push_back((items[x] | items[y]) & needed);
            best = std::min(best, 2 * size_of(items[x] | items[y], extents) + least_flops(rest, kept, extents));
        }
    return best;
}

} // namespace

TEST_CASE("dynamic programming finds the cheapest order") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const std::size_t axes = 4 + random() % 4;
        std::vector<double> extents;
        for (std::size_t a = 0; a < axes; ++a) extents.push_back(1 + random() % 9);
        // Each axis stands in two factors or in one and the result, so that no leaf is reduced alone.
        std::vector<label_set> factors(2 + random() % 4);
        label_set kept;
        for (std::size_t a = 0; a < axes; ++a) {
            const auto first = random() % factors.size();
            factors[first].set(a);
            const auto second = random() % (factors.size() + 1);
            if (second == factors.size() || second == first) kept.set(a);
            else factors[second].set(a);
        }
        const auto order = contraction_order(factors, kept, extents, 8);
        REQUIRE(order.flops == Approx(least_flops(factors, kept, extents)));
        REQUIRE(order.pairs.size() == factors.size() - 1);
        CHECK(order.pairs.back().result == kept);
    }
}

TEST_CASE("an axis of one factor alone is summed first") {
    std::vector<label_set> factors(2);
    factors[0].set(0).set(1); // A(i,k)
    factors[1].set(2).set(3); // B(j,l)
    label_set kept;
    kept.set(0).set(2);
    const auto order = contraction_order(factors, kept, {10, 20, 30, 40}, 8);
    REQUIRE(order.pairs.size() == 3);
    CHECK(order.pairs[0].right == -1);
    CHECK(order.pairs[1].right == -1);
    CHECK(order.flops == 10 * 20 + 30 * 40 + 2 * 10 * 30);
}

TEST_CASE("more than twelve factors are ordered greedily") {
    std::vector<label_set> chain(14);
    std::vector<double> extents(15, 3.0);
    label_set kept;
    kept.set(0).set(14);
    for (std::size_t f = 0; f < chain.size(); ++f) chain[f].set(f).set(f + 1);
    const auto order = contraction_order(chain, kept, extents, 8);
    CHECK(order.pairs.size() == 13);
    CHECK(order.flops == 13 * 2 * 27);
}

TEST_CASE("a product there and back begins and ends along other axes than its neighbors, if that costs no more") {
    // v(a,b,c,e) = B(q,a)*B(r,b)*B(s,c)*S(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(i,j,k,e)
    enum axis : std::size_t { a, b, c, e, q, r, s, i, j, k };
    const auto labels = [](std::initializer_list<axis> axes) {
        label_set out;
        for (const axis n : axes) out.set(n);
        return out;
    };
    const std::vector<label_set> factors = {labels({q, a}), labels({r, b}), labels({s, c}), labels({q, r, s, e}),
                                            labels({q, i}), labels({r, j}), labels({s, k}), labels({i, j, k, e})};
    const auto kept = labels({a, b, c, e});
    // The axis that each pair sums, in their order; no axis for what is multiplied point by point.
    const auto summed = [&](const pair_order& order) {
        std::vector<int> out;
        auto items = factors;
        for (const auto& pair : order.pairs) {
            const auto gone =
                (items[static_cast<std::size_t>(pair.left)] | items[static_cast<std::size_t>(pair.right)]) &
                ~pair.result;
            int axis = -1;
            for (std::size_t n = 0; n < 10; ++n)
                if (gone[n]) axis = static_cast<int>(n);
            out.push_back(axis);
            items.push_back(pair.result);
        }
        return out;
    };
    const auto ordered = [&](const std::vector<double>& extents, int of_u, int of_v,
                             std::vector<int> of_points = {}) {
        const auto cheapest = contraction_order(factors, kept, extents, 8);
        neighbor_axes neighbors{std::vector<int>(factors.size(), -1), of_v};
        neighbors.factors.back() = of_u;
        neighbors.by_stride.resize(factors.size());
        neighbors.by_stride[3] = std::move(of_points);
        const auto out = along_other_axes(cheapest, factors, kept, extents, 8, {}, neighbors);
        CHECK(out.flops == cheapest.flops);
        CHECK(out.bytes == cheapest.bytes);
        CHECK(out.pairs.back().result == kept);
        return summed(out);
    };
    const std::vector<double> cube = {5, 5, 5, 1000, 6, 6, 6, 5, 5, 5};
    const auto usual = ordered(cube, -1, -1), moved = ordered(cube, usual[0], a);
    CHECK(moved[0] == usual[1]);
    CHECK(moved[1] == usual[0]);
    CHECK(moved[3] == -1);
    CHECK(moved.back() != q);
    CHECK(ordered(cube, usual[1], -1) == usual); // begins along another axis already
    // At the points along the axis that lies farthest apart there, whatever else is asked for.
    for (const auto& [of_points, before, behind] :
         {std::tuple{std::vector<int>{q, r, s, e}, int{k}, int{s}}, std::tuple{std::vector<int>{s, r, q, e}, int{i}, int{q}},
          std::tuple{std::vector<int>{e, s, q, r}, int{j}, int{r}}})
        for (const int of_u : {-1, int{i}, int{j}, int{k}})
            for (const int of_v : {-1, int{a}, int{b}, int{c}}) {
                const auto by_axis = ordered(cube, of_u, of_v, of_points);
                CHECK(by_axis[2] == before);
                CHECK(by_axis[3] == -1);
                CHECK(by_axis[4] == behind);
                if (of_u != before) CHECK(by_axis[0] != of_u);
            }
    // Where the order matters to the flops it stays.
    const std::vector<double> flat = {2, 5, 5, 1000, 8, 6, 6, 9, 5, 5};
    CHECK(ordered(flat, i, a) == ordered(flat, -1, -1));
    CHECK(ordered(flat, i, a, {q, r, s, e}) == ordered(flat, -1, -1));
    CHECK(ordered(flat, i, a, {s, r, q, e}) == ordered(flat, -1, -1));
    // Of two contractions on each side both lie at the points, and keep what was made last to be summed first.
    const std::vector<label_set> flat_factors = {labels({q, a}), labels({r, b}), labels({q, r, e}),
                                                 labels({q, i}), labels({r, j}), labels({i, j, e})};
    const auto two = contraction_order(flat_factors, labels({a, b, e}), cube, 8);
    for (const int of_u : {-1, int{i}, int{j}})
        for (const int of_v : {-1, int{a}, int{b}}) {
            const auto kept_two = along_other_axes(two, flat_factors, labels({a, b, e}), cube, 8, {},
                                                   {{-1, -1, -1, -1, -1, of_u}, of_v});
            for (std::size_t n = 0; n < two.pairs.size(); ++n) CHECK(kept_two.pairs[n].result == two.pairs[n].result);
        }
    // One way only: other steps' phases may fit its order.
    const std::vector<label_set> there(factors.begin() + 4, factors.end());
    const auto values = labels({q, r, s, e});
    const auto cheapest = contraction_order(there, values, cube, 8);
    const auto same = along_other_axes(cheapest, there, values, cube, 8, {}, {{-1, -1, -1, i}, q});
    for (std::size_t n = 0; n < cheapest.pairs.size(); ++n) CHECK(same.pairs[n].result == cheapest.pairs[n].result);
}

TEST_CASE("a chain on a GPU takes points along their factor's outermost axis, and gathers neighbors side by side") {
    auto chip = ricci::tests::some_gpu();
    chip.launch_seconds = 1e-9;
    for (const char* points : {"q,r,s", "s,r,q", "r,q,s"}) {
        const auto text =
            fmt::format("y(l(a,b,c,e)) += B(q,a)*B(r,b)*B(s,c)*D({},e)*B(q,i)*B(r,j)*B(s,k)*x(l(i,j,k,e))", points);
        const auto p = lower(ricci::tests::bound_text(text, "y=f64[90000] B=f64[5,4] D=f64[5,5,5,900] x=f64[90000] "
                                                            "l=i32[4,4,4,900]"),
                             chip);
        INFO(text);
        REQUIRE(p.chains.size() == 1);
        const auto& c = p.chains[0];
        int of_points = 0, gathered = 0;
        for (const auto& v : c.views) {
            if (v.where != chain_view::space::memory) continue;
            if (c.memories[static_cast<std::size_t>(v.number)].element_step == 125) {
                CHECK(v.stream == std::vector<std::int64_t>{25});
                ++of_points;
            }
            if (v.tables.empty() || v.adds_atomically) continue;
            CHECK(c.views[static_cast<std::size_t>(v.tables[0].view)].item.at(0) == 1);
            ++gathered;
        }
        CHECK(of_points == 1);
        CHECK(gathered == 1);
    }
}

TEST_CASE("a batch is ordered as a long one, unless it is so short that this loses much") {
    machine chip;
    chip.flops_f64 = 160e9;
    const auto intermediate = [&](const char* text, const char* operands) {
        const auto p = lower(ricci::tests::bound_text(text, operands), chip);
        REQUIRE(p.temporaries.size() == 1);
        if (p.groups.empty()) return p.temporaries[0].elements;
        std::int64_t all = 0; // slices have a part each
        for (const auto& group : p.groups) all += group.count * group.length;
        return p.temporaries[0].elements / p.groups[0].length * all;
    };
    const auto *mass = "M(i,j,e) = B(q,i)*W(q,e)*B(q,j)", *mixed = "M(i,j,e) = B(q,i)*W(q,e)*D(q,j)";
    // Small matrices: B(q,i)*B(q,j) first, whatever the batch.
    CHECK(intermediate(mass, "M=f64[8,8,2] B=f64[27,8] W=f64[27,2]") == 27 * 8 * 8);
    CHECK(intermediate(mass, "M=f64[8,8,70000] B=f64[27,8] W=f64[27,70000]") == 27 * 8 * 8);
    // Large ones: for a few elements, B(q,i)*W(q,e) first.
    const std::string few = "M=f64[343,343,7] B=f64[512,343] D=f64[512,343] W=f64[512,7]",
                      many = "M=f64[343,343,7000] B=f64[512,343] D=f64[512,343] W=f64[512,7000]";
    CHECK(intermediate(mixed, few.c_str()) == 512 * 343 * 7);
    CHECK(intermediate(mixed, many.c_str()) == 512 * 343 * 343);
    // Always, where half of a symmetric product need not be computed.
    CHECK(intermediate(mass, "M=f64[343,343,7000] B=f64[512,343] W=f64[512,7000]") == 512 * 343 * 7000);
}
