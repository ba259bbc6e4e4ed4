// slices_test: steps of a statement that run slice by slice of an index, with a last slice that is shorter, against
// the oracle; and statements that must not.
#include "tests/catch.hpp"
#include "tests/kernels/planned_cases.hpp"

#include <future>
#include <string>

using namespace ricci;
using namespace ricci::tests;

namespace {

// Temporaries of more than a megabyte; two of them; a sum that adds to C; views whose elements are apart; complex;
// one step that has nothing to do with the temporaries.
const covering_case sliced[] = {
    {"M(i,j,e) = B(q,i)*W(q,e)*B(q,j)", "M=f64[40,40,150] B=f64[34,40] W=f64[34,150]"},
    {"v(a,b,e) += 2*B(a,i)*D(b,j)*u(i,j,e)", "v=f64[20,9,2500] B=f64[20,8] D=f64[9,3] u=f64[8,3,2500]"},
    {"v(b,a,e) -= B(a,i)*D(b,j)*u(j,i,e)",
     "v=f32[9:2,20:19,5001:400] B=f32[20,8] D=f32[9,3] u=f32[3:8,8:1,5001:-24]"},
    {"v(a,b,c,e) = B(a,i)*B(b,j)*B(c,k)*u(i,j,k,e)", "v=f64[7,7,7,2003] B=f64[7,2] u=f64[2,2,2,2003]"},
    {"v(a,b,e) = B(a,i)*conj(D(b,j))*u(i,j,e)", "v=c64[20,9,2500] B=c64[20,8] D=c64[9,3] u=c64[8,3,2500]"},
    {"v(a,b,e) = B(a,i)*D(b,j)*u(i,j,e) + w(a)",
     "v=f64[20,9,2500] B=f64[20,8] D=f64[9,3] u=f64[8,3,2500] w=f64[20]"},
    {"v(a,b,e) = relu(B(a,i)*D(b,j)*u(i,j,e))", "v=f64[20,9,2501] B=f64[20,8] D=f64[9,3] u=f64[8,3,2501]"},
};

// The index is not outermost in memory: its slices would need kernels of their own.
const covering_case whole[] = {
    {"v(a,e,b) -= B(a,i)*D(b,j)*u(j,i,e)", "v=f32[20,5001,9] B=f32[20,8] D=f32[9,3] u=f32[3,8,5001]"},
    {"v(e,a,b) = B(a,i)*D(b,j)*u(e,i,j)", "v=f64[2501,20,9] B=f64[20,8] D=f64[9,3] u=f64[2501,8,3]"},
};

// What one slice writes another one would read: it is copied before.
const covering_case copied[] = {
    {"A(i,j,e(1,2500)) = B(i,k)*A(k,l,e-1)*D(l,j)", "A=f64[8,8,2500] B=f64[8,8] D=f64[8,8]"},
    {"A(i,j,e(0,2499)) += B(i,k)*A(k,l,e+1)*D(l,j)", "A=f64[8,8,2500] B=f64[8,8] D=f64[8,8]"},
};

} // namespace

TEST_CASE("statements slice by slice agree with the oracle") {
    check_apart(sliced, cpu(), [](const lowering::plan& p) {
        CHECK(!p.groups.empty());
        for (std::size_t n = 1; n < p.steps.size(); ++n) CHECK(p.steps[n].group >= p.steps[n - 1].group);
    });
}

TEST_CASE("an index that is not outermost in memory is not sliced") {
    check_apart(whole, cpu(), [](const lowering::plan& p) { CHECK(p.groups.empty()); });
}

TEST_CASE("no slice reads what another one writes") {
    check_apart(copied, cpu(), [](const lowering::plan& p) {
        CHECK(p.steps.front().group < 0);
        CHECK(p.steps.back().group >= 0);
    });
}

TEST_CASE("threads of a program run sliced statements at the same time") {
    const auto run = [](std::uint64_t seed) {
        std::string reports;
        for (int n = 0; n < 3; ++n) {
            auto made = make_case(sliced[(seed + static_cast<std::uint64_t>(n)) % 2], seed);
            reports += run_and_compare(made, cpu().code());
        }
        return reports;
    };
    auto other = std::async(std::launch::async, run, 1);
    const auto here = run(2), there = other.get();
    INFO(here << there);
    CHECK(here.empty());
    CHECK(there.empty());
}
