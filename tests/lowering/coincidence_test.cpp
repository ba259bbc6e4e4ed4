// coincidence_test: the exact overlap test against brute force.
#include "lowering/coincidence.hpp"
#include "tests/catch.hpp"

#include <random>

namespace {

using ricci::lowering::bounded_term;

/// Tries every combination, as an odometer does.
bool brute_force(const std::vector<bounded_term>& terms, std::int64_t low, std::int64_t high, bool except_zero) {
    std::vector<std::int64_t> value;
    for (const auto& t : terms) {
        if (t.low > t.high) return false;
        value.push_back(t.low);
    }
    while (true) {
        std::int64_t sum = 0;
        bool all_zero = true;
        for (std::size_t t = 0; t < terms.size(); ++t)
            sum += value[t] * terms[t].stride, all_zero = all_zero && value[t] == 0;
        if (low <= sum && sum <= high && !(except_zero && all_zero)) return true;
        std::size_t t = 0;
        while (t < terms.size() && value[t] == terms[t].high) value[t] = terms[t].low, ++t;
        if (t == terms.size()) return false;
        ++value[t];
    }
}

} // namespace

TEST_CASE("has_solution agrees with brute force") {
    std::mt19937 random(5);
    int solvable = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::vector<bounded_term> terms(random() % 5);
        const bool except_zero = random() % 2 == 0;
        for (auto& t : terms) {
            t.stride = static_cast<std::int64_t>(random() % 25) - 12;
            t.low = -static_cast<std::int64_t>(random() % 4);
            t.high = static_cast<std::int64_t>(random() % 4);
            if (!except_zero) t.low += static_cast<std::int64_t>(random() % 3);
        }
        const auto low = except_zero ? 0 : static_cast<std::int64_t>(random() % 60) - 30;
        const auto high = except_zero ? 0 : low + static_cast<std::int64_t>(random() % 4);
        const bool expected = brute_force(terms, low, high, except_zero);
        solvable += expected;
        REQUIRE(ricci::lowering::has_solution(terms, low, high, except_zero) == expected);
    }
    CHECK(solvable > 2'000);
    CHECK(solvable < 18'000);
}

TEST_CASE("dense tensors of many axes are decided without a search") {
    std::vector<bounded_term> terms;
    for (int axis = 0; axis < 32; ++axis) terms.push_back({std::int64_t{1} << axis, -1, 1});
    CHECK_FALSE(ricci::lowering::has_solution({{1, -9, 9}, {10, -9, 9}, {100, -9, 9}}, 0, 0, true));
    std::vector<bounded_term> dense;
    for (int axis = 0; axis < 32; ++axis) dense.push_back({std::int64_t{1} << (2 * axis % 62), -1, 1});
    CHECK(ricci::lowering::has_solution(dense, 0, 0, true)); // axis 31 has axis 0's stride
    dense.pop_back();
    CHECK_FALSE(ricci::lowering::has_solution(dense, 0, 0, true));
}
