// chain_cut_test: what explain says of a program that is not one kernel: which steps are, and why no more of them.
#include "ricci.hpp"
#include "runtime/backend.hpp"
#include "tests/catch.hpp"

#include <sstream>
#include <string>

namespace {

using ricci::cpu;
using ricci::dyn;
using ricci::local;
using ricci::tensor;
using namespace ricci::indices;

template <class F> std::string explained(const F& f) {
    std::ostringstream out;
    ricci::explain(f, out);
    return out.str();
}

} // namespace

TEST_CASE("explain says why a chain ends where a sum goes over the elements") {
    tensor<double, 4, 5> B(cpu());
    tensor<double, 4, dyn> u(3000, cpu());
    tensor<double, 4> s(cpu());
    const auto text = explained([&] {
        local<double, 5, dyn> x(3000, cpu());
        local<double, 4, dyn> y(3000, cpu());
        x(q, e) = B(i, q) * u(i, e);
        y(j, e) = B(j, q) * x(q, e);
        s(j) = y(j, e);
    });
    INFO(text);
    CHECK_THAT(text, Catch::Contains("steps 1 to 2 are one kernel over e"));
    CHECK_THAT(text, Catch::Contains("steps 1 to 3 are not fused by e: step 3: "));
}

TEST_CASE("explain says how much memory a chain would take that has too little") {
    tensor<double, 40, 40> B(cpu());
    tensor<double, 40, 40, 40, dyn> u(2000, cpu()), v(2000, cpu());
    const auto text = explained([&] {
        local<double, 40, 40, 40, dyn> x(2000, cpu());
        x(q, j, k, e) = B(q, i) * u(i, j, k, e);
        v(q, r, k, e) = B(r, j) * x(q, j, k, e);
    });
    INFO(text);
    CHECK_THAT(text, Catch::Contains("steps 1 and 2 are not fused: a block of a vector's elements takes "));
    CHECK_THAT(text, Catch::Contains(" bytes of L2, of " +
                                     std::to_string(ricci::runtime::backend_of(cpu()).machine().l2_bytes) +
                                     " that there are for it"));
}

TEST_CASE("explain says which steps of a program are of the same memory") {
    tensor<double, 4, 4> B(cpu());
    tensor<double, 4, dyn> u(3000, cpu());
    const auto text = explained([&] {
        local<double, 4, dyn> x(3000, cpu());
        x(q, e) = B(i, q) * u(i, e);
        u(j, 2999 - e) = B(j, q) * x(q, e);
    });
    INFO(text);
    CHECK_THAT(text, Catch::Contains("steps 1 and 2 are not fused: steps 1 and 2 are of the same memory, at other "));
}
