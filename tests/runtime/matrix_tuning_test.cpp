// matrix_tuning_test: the search among kernels that factor matrices or solve with them, on a GPU whose kernels take
// the time that the test says: what they overwrite is put back, untimed, and all that they write is compared.
#include "lowering/factor_layout.hpp"
#include "lowering/matrix_sizes.hpp"
#include "runtime/step_memory.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/fake_gpu.hpp"
#include "tests/runtime/scratch.hpp"
#include "tests/runtime/tuned_step.hpp"

#include <cmath>
#include <map>
#include <set>

using namespace ricci;
using namespace ricci::runtime;
using namespace ricci::test;
using fate = candidate::outcome;

namespace {

bound_step some_lu(const lowering::machine& chip) {
    return first_step_of(chip, "piv(k,e), info(e) = lu(A(i,j,e), i, j)",
                         "A=f64[9,9,300] piv=i32[9,300] info=i64[300]");
}

/// Another time for each kernel, in the order in which they are first asked for; all too far apart to be as good.
std::function<double(const fake_kernel&)> one_after_another() {
    return [seen = std::map<std::map<std::string, int>, int>()](const fake_kernel& k) mutable {
        const auto number = seen.emplace(k.constant, static_cast<int>(seen.size())).first->second;
        return 1e-4 * (2 - 0.05 * number);
    };
}

double* doubles(std::uint64_t word) { return reinterpret_cast<double*>(word); }

} // namespace

TEST_CASE("what is factored in place is put back before each launch that is timed, and not in its time") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("in place");
    gpu.seconds = one_after_another();
    int stale = 0;
    double first = 0;
    gpu.on_launch = [&](const fake_kernel&, std::span<const std::uint64_t> words) {
        auto* const a = doubles(words[0]);
        if (first == 0) first = *a;
        stale += *a != first;
        *a = 1000; // the same for all: what is compared
    };
    const auto p = some_lu(gpu.machine());
    const auto tuned = tune_step(gpu, p.step, p.s, everything());
    CHECK(stale == 0);
    CHECK(tuned.count(fate::wrong) == 0);
    REQUIRE(tuned.best);
    const auto& best = tuned.candidates[*tuned.best];
    double least = INFINITY;
    for (const auto& c : tuned.candidates)
        if (c.result == fate::measured) least = std::min(least, c.seconds);
    CHECK(best.seconds == least);
    CHECK(tuned.candidates.size() > 3);
    for (std::size_t n = 0; n < tuned.candidates.size(); ++n)
        CHECK(tuned.candidates[n].seconds == Approx(1e-4 * (2 - 0.05 * static_cast<double>(n))));
    CHECK(gpu.pieces == 0);
}

TEST_CASE("kernels with other pivots, infos or factors are refused; other roundings are not") {
    const scratch_cache cache;
    const auto p = some_lu(tests::some_gpu());
    const auto tuned_with = [&](const char* name, const std::function<void(std::span<const std::uint64_t>)>& change) {
        auto& gpu = new_fake_gpu(name);
        gpu.seconds = one_after_another();
        const int threads = p.step.batched.threads;
        gpu.on_launch = [=](const fake_kernel& k, std::span<const std::uint64_t> words) {
            if (k.at("threads_per_block") != threads) change(words);
        };
        auto effort = everything();
        effort.tolerance = 4; // every result is checked
        return tune_step(gpu, p.step, p.s, effort);
    };
    const auto pivots = tuned_with("pivots", [](auto words) { ++reinterpret_cast<std::int32_t*>(words[1])[7]; });
    const auto infos = tuned_with("infos", [](auto words) { ++*reinterpret_cast<std::int64_t*>(words[2]); });
    const auto factors = tuned_with("factors", [](auto words) { doubles(words[0])[9 * 9 * 300 - 1] *= 1.00001; });
    for (const auto* tuned : {&pivots, &infos, &factors}) {
        CHECK(tuned->count(fate::wrong) > 0);
        REQUIRE(tuned->best);
        CHECK(tuned->candidates[*tuned->best].tile.threads == p.step.batched.threads);
    }
    const auto rounded = tuned_with("rounded", [](auto words) { doubles(words[0])[9 * 9 * 300 - 1] *= 1 + 1e-14; });
    CHECK(rounded.count(fate::wrong) == 0);
}

TEST_CASE("there is memory of the step's own for the candidate that wants the most") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("workspace");
    const auto p = first_step_of(gpu.machine(), "X(j,r,e) = least_squares(A(i,j,e), i, j, B(i,r,e))",
                                 "A=f64[300,280,2] B=f64[300,40,2] X=f64[280,40,2]");
    REQUIRE(p.step.kernel == lowering::family::factor_blocked);
    std::set<std::uint64_t> places;
    gpu.on_launch = [&](const fake_kernel&, std::span<const std::uint64_t> words) {
        places.insert(words[lowering::matrix_roles]);
    };
    std::int64_t most = 0;
    for (const auto& t : lowering::factor_candidates(p.step, gpu.machine()))
        most = std::max(most, lowering::factor_workspace_bytes(p.step, t, gpu.machine()));
    REQUIRE(most > 0);
    auto effort = everything();
    effort.memory_bytes = 1;
    tune_step(gpu, p.step, p.s, effort);
    REQUIRE(places.size() == 1);
    CHECK(*places.begin() != 0);
    auto without = p.step; // as a plan has it whose kernel wants none
    without.workspace = {};
    CHECK(tune_step(gpu, without, p.s, effort).best);
    CHECK_FALSE(places.contains(0));
}

TEST_CASE("matrices to be factored have pivots far from any others, and are positive definite for Cholesky") {
    auto& gpu = new_fake_gpu("numbers");
    const auto p = first_step_of(gpu.machine(), "piv(k,e,f) = lu(A(i,j,f,e), i, j)",
                                 "A=c64[9:1,7:12,3:2000,4:100] piv=i32[7,4,3]");
    const step_memory memory(gpu, p.step, p.s, 1);
    CHECK(memory.is_used_up());
    const auto* const a = static_cast<const std::complex<float>*>(memory.address(0, 0));
    std::set<std::vector<int>> orders;
    int uneven = 0; // orders whose pivots are not at equal distances
    for (int f = 0; f < 3; ++f)
        for (int e = 0; e < 4; ++e) {
            std::vector<int> order;
            for (int j = 0; j < 7; ++j)
                for (int i = 0; i < 9; ++i) {
                    const auto x = std::abs(a[i + 12 * j + 2000 * f + 100 * e]);
                    CHECK((x < 0.5 || x > 3.4));
                    if (x > 3.4) order.push_back(i);
                }
            CHECK(order.size() == 7);
            CHECK(std::set<int>(order.begin(), order.end()).size() == 7);
            orders.insert(order);
            std::set<int> distances;
            for (std::size_t j = 1; j < order.size(); ++j) distances.insert((order[j] - order[j - 1] + 9) % 9);
            uneven += distances.size() > 2;
        }
    CHECK(orders.size() > 3);
    CHECK(uneven > 6); // of 12

    const auto c = first_step_of(gpu.machine(), "info(e) = cholesky(A(i,j,e), i, j)", "A=c128[6,6,5] info=i32[5]");
    const step_memory definite(gpu, c.step, c.s, 1);
    const auto* const d = static_cast<const std::complex<double>*>(definite.address(0, 0));
    for (int e = 0; e < 5; ++e)
        for (int i = 0; i < 6; ++i) {
            CHECK(d[i + 6 * i + 36 * e].imag() == 0);
            double others = 0;
            for (int j = 0; j < i; ++j) others += std::abs(d[i + 6 * j + 36 * e]);
            for (int j = i + 1; j < 6; ++j) others += std::abs(d[j + 6 * i + 36 * e]);
            CHECK(d[i + 6 * i + 36 * e].real() > others); // of so few rows
        }
}

TEST_CASE("factors that are there have valid pivots, and reflections that make nothing longer") {
    auto& gpu = new_fake_gpu("factors");
    const auto lu = first_step_of(gpu.machine(), "lu_solve(A(i,j,e), i, j, piv(k,e), X(j,e))",
                                  "A=f64[9,9,30] piv=i64[9,30] X=f64[9,30]");
    const step_memory memory(gpu, lu.step, lu.s, 1);
    CHECK(memory.is_used_up()); // X
    const auto* const pivots = static_cast<const std::int64_t*>(memory.address(0, 1));
    bool exchanges = false;
    for (int n = 0; n < 9 * 30; ++n) {
        CHECK((pivots[n] >= n % 9 && pivots[n] < 9));
        exchanges = exchanges || pivots[n] > n % 9;
    }
    CHECK(exchanges);
    const auto q = first_step_of(gpu.machine(), "X(j,e) = qr_solve(A(i,j,e), i, j, tau(k,e), B(i,e))",
                                 "A=f64[9,7,30] tau=f64[7,30] X=f64[7,30] B=f64[9,30]");
    const step_memory of_q(gpu, q.step, q.s, 1);
    CHECK_FALSE(of_q.is_used_up());
    const auto source = lowering::operand_in(q.step, lowering::matrix_role::vector)->source;
    const auto *const v = static_cast<const double*>(of_q.address(0, 0)), *const tau = static_cast<const double*>(
                                                                              of_q.address(0, source));
    for (int e = 0; e < 30; ++e)
        for (int j = 0; j < 7; ++j) {
            double square = 1;
            for (int i = j + 1; i < 9; ++i) square += v[i + 9 * j + 63 * e] * v[i + 9 * j + 63 * e];
            CHECK((tau[j + 7 * e] > 0 && tau[j + 7 * e] * square <= 2));
        }
}
