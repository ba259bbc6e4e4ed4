// random_statement_test: the generator's cases are valid, small, varied and decided by the oracle; nothing is run.
#include "tests/catch.hpp"
#include "tests/random_statement.hpp"

#include <set>

using namespace ricci::tests;
using namespace ricci::lowering;

TEST_CASE("random statements are valid, small and varied") {
    std::int64_t elements = 0, unknown = 0, exact = 0, non_finite = 0, most = 0, empty = 0, padded = 0, aliased = 0;
    std::set<scalar_type> types;
    std::size_t axes = 0, operands = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        random_case c = make_random_case(seed);
        INFO(c.text);
        oracle_result r;
        REQUIRE_NOTHROW(r = evaluate(c.s));
        most = std::max(most, r.products);
        elements += std::ssize(r.elements), unknown += r.unknown, empty += r.elements.empty();
        for (const auto& e : r.elements) {
            exact += e.kind == verdict::within && e.bound == 0;
            non_finite += e.kind != verdict::within && e.kind != verdict::unknown;
        }
        types.insert(r.type);
        aliased += c.memory.size() < c.s.accesses.size();
        operands = std::max(operands, c.s.accesses.size());
        for (const auto& a : c.s.accesses)
            padded += a.padded, axes = std::max(axes, static_cast<std::size_t>(a.position_count));
    }
    CAPTURE(elements, unknown, exact, non_finite, most, empty, padded, aliased, axes, operands);
    CHECK(types.size() == scalar_type_count);
    CHECK(most < 500000);
    CHECK(unknown * 50 < elements);
    CHECK(exact * 5 > elements);
    CHECK(non_finite * 10 < elements);
    CHECK(non_finite > 0);
    CHECK((empty > 10 && empty < 150));
    CHECK((padded > 20 && aliased > 50));
    CHECK((axes > 20 && operands > 10));
}

TEST_CASE("a seed gives the same case again") {
    random_case a = make_random_case(42), b = make_random_case(42);
    CHECK(a.text == b.text);
    for (std::size_t n = 0; n < a.memory.size(); ++n)
        CHECK(std::equal(a.memory[n].whole().begin(), a.memory[n].whole().end(), b.memory[n].whole().begin()));
}
