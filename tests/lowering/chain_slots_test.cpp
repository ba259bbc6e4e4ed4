// chain_slots_test: phases of a chain that leave their results where they have read, and the banks these lie on.
#include "lowering/bank_conflicts.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace ricci;
using namespace ricci::lowering;

namespace {

chain chain_of(const std::vector<std::string>& program, std::string_view operands, machine chip,
               const std::vector<std::string>& locals = {}) {
    chip.launch_seconds = 1e-9;
    const auto p = tests::lowered_program(program, operands, chip, locals);
    REQUIRE(p.chains.size() == 1);
    return p.chains[0];
}

std::vector<std::int64_t> sorted(std::vector<std::int64_t> list) {
    std::ranges::sort(list);
    return list;
}

constexpr const char* mass = "v(a,b,c,e) = B(q,a)*G(r,b)*H(s,c)*D(q,r,s,e)*B(q,i)*G(r,j)*H(s,k)*u(i,j,k,e)";

} // namespace

TEST_CASE("sums along one axis after another take place in one box, whose dimensions have room for all of them") {
    for (const auto& chip : {tests::some_gpu(), tests::some_cpu()}) {
        const auto c = chain_of({mass},
                                "v=f64[3,5,6,90000] B=f64[4,3] G=f64[7,5] H=f64[6,6] D=f64[4,7,6,90000] "
                                "u=f64[3,5,6,90000]",
                                chip);
        REQUIRE(c.slots.size() == 1);
        // One of the three axes has its points and its nodes in one phase, its box the fewer of them.
        const auto box = sorted(c.slots[0].extents);
        CHECK((box == sorted({3, 7, 6}) || box == sorted({4, 5, 6}) || box == sorted({4, 7, 6})));
        CHECK(c.slots[0].first_phase == 0);
        CHECK(c.slots[0].last_phase == static_cast<std::int32_t>(c.phases.size()) - 1);
    }
}

TEST_CASE("a temporary is read and its transpose left in one place, not what other items still read") {
    const auto slots = [](const char* second) {
        return chain_of({"t(i,j,e) = A(i,k)*x(k,j,e)", second, "y(i,j,e) = w(i,j,e)*w(j,i,e)"},
                        "x=f64[4,5,90000] A=f64[5,4] b=f64[5,90000] y=f64[5,5,90000] t=f64[5,5,90000] "
                        "w=f64[5,5,90000]",
                        tests::some_gpu(), {"t", "w"})
            .slots.size();
    };
    CHECK(slots("w(i,j,e) = exp(t(j,i,e))") == 1);
    CHECK(slots("w(i,j,e) = t(i,j,e) + t(j,i,e)") == 2);
    CHECK(slots("w(i,j,e) = t(i,2,e) + b(j,e)") == 2);
    // Windows: what lies beside an item's first number is another item's too.
    CHECK(chain_of({"t(a,e) = M(a,k)*u(k,e)", "w(i,e) = b(k)*t(i+k,e)", "y(j,e) = N(j,i)*w(i,e)"},
                   "t=f64[12,90000] M=f64[12,4] u=f64[4,90000] w=f64[8,90000] b=f64[5] y=f64[6,90000] N=f64[6,8]",
                   tests::some_gpu(), {"t", "w"})
              .slots.size() == 2);
}

TEST_CASE("a slot's box lies so that few of a warp's numbers meet on a bank") {
    for (int p = 1; p <= 8; ++p) {
        const auto c = chain_of({"v(a,b,c,e) = B(q,a)*B(r,b)*B(s,c)*D(q,r,s,e)*B(q,i)*B(r,j)*B(s,k)*u(i,j,k,e)"},
                                fmt::format("v=f64[{0},{0},{0},90000] u=f64[{0},{0},{0},90000] B=f64[{1},{0}] "
                                            "D=f64[{1},{1},{1},90000]",
                                            p + 1, p + 2),
                                tests::some_gpu());
        REQUIRE(c.slots.size() == 1);
        const auto& slot = c.slots[0];
        double passes = 0, fewest = 0;
        for (const auto& v : c.views) {
            if (v.where != chain_view::space::slot) continue;
            const auto& ph = c.phases[static_cast<std::size_t>(v.phase)];
            constexpr int warps = 8;
            for (int first = 0; first < warps * warp; first += warp)
                passes += wavefronts(8, [&](int lane) {
                    auto rest = (first + lane) % ph.item_count(), at = (first + lane) / ph.item_count() * slot.step;
                    for (std::size_t a = 0; a < ph.items.size(); ++a)
                        at += rest % ph.items[a] * v.item[a], rest /= ph.items[a];
                    return at * 8;
                });
            fewest += 2 * warps;
        }
        INFO("p = " << p << ": " << passes << " passes of at least " << fewest << ", " << slot.step << " numbers for "
                    << slot.length());
        CHECK(passes < 1.6 * fewest);
        CHECK(static_cast<double>(slot.step) < 1.1 * static_cast<double>(slot.length()) + 24);
    }
}
