// chain_memory_test: memory outside of a chain that its kernel knows once; how much a CPU's caches have for a block.
#include "lowering/chain_layout.hpp"
#include "lowering/chain_shape.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace ricci;
using namespace ricci::lowering;

TEST_CASE("a table that a chain reads by and adds by is loaded once") {
    auto chip = tests::some_gpu();
    chip.launch_seconds = 1e-9;
    const auto tables = [&](const std::vector<std::string>& program, const std::vector<std::string>& locals) {
        const auto p = tests::lowered_program(
            program,
            "y=f64[900] x=f64[900] u=f64[4,4,90000] v=f64[4,4,90000] B=f64[5,4] D=f64[5,5,90000] "
            "l=i32[4,4,90000] k=i32[4,4,90000]",
            chip, locals);
        REQUIRE(p.chains.size() == 1);
        return std::ranges::count_if(p.chains[0].memories, [](const chain_memory& m) { return is_index(m.type); });
    };
    const std::string gathered = "u(i,j,e) = x(l(i,j,e))",
                      product = "v(a,b,e) = B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(i,j,e)";
    CHECK(tables({gathered, product, "y(atomic(l)(a,b,e)) += v(a,b,e)"}, {"u", "v"}) == 1);
    CHECK(tables({gathered, product, "y(atomic(k)(a,b,e)) += v(a,b,e)"}, {"u", "v"}) == 2);
}

TEST_CASE("a block of a CPU's chain has room in the chip's L2, and keeps out of the sets of its L1 that are full") {
    auto chip = tests::some_cpu();
    chip.vector_bytes = 64, chip.bandwidth /= 100;
    const auto chains = [&] {
        return tests::lowered_program({"x(i,j,e) = B(i,k)*u(k,j,e)", "v(i,j,e) = G(j,k)*x(i,k,e)"},
                                      "x=f64[32,5,90000] B=f64[32,4] u=f64[4,5,90000] v=f64[32,6,90000] G=f64[6,5]",
                                      chip, {"x"})
            .chains;
    };
    auto made = chains();
    REQUIRE(made.size() == 1);
    const auto least = least_memory(made[0], chip);
    CHECK(least.most == chip.l2_bytes);
    const auto has_planes = [&] {
        const auto layout = vector_layout_of(made[0], chain_lanes(made[0], chip), chip);
        return std::ranges::any_of(layout.slot_plane, [](std::int64_t plane) { return plane > 0; });
    };
    CHECK(has_planes()); // 32 vectors of 64 bytes are half of a way
    chip.l1_way_bytes = 64 << 10;
    CHECK_FALSE(has_planes());
    chip.l1_way_bytes = 4 << 10;
    chip.l2_bytes = least.bytes;
    CHECK(chains().size() == 1);
    chip.l2_bytes = least.bytes - 1;
    CHECK(chains().empty());
}
