// chain_memory_test: memory outside of a chain that its kernel knows once.
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
