// chain_tuning_test: the search among blocks of chains that factor matrices, on a GPU whose kernels do what the test
// says: all that they write is compared, what they overwrite is put back, and Cholesky's matrices are positive
// definite.
#include "lowering/chain_shape.hpp"
#include "lowering/join_statements.hpp"
#include "lowering/lower_program.hpp"
#include "runtime/step_memory.hpp"
#include "runtime/tuner.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/fake_gpu.hpp"
#include "tests/runtime/scratch.hpp"
#include "tests/runtime/tuned_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

using namespace ricci;
using namespace ricci::runtime;
using namespace ricci::test;
using fate = candidate::outcome;

namespace {

struct program {
    lowering::statement joined;
    lowering::plan plan;

    const lowering::chain& chain() const { return plan.chains.at(0); }
    std::size_t first_step() const {
        const auto at = std::ranges::find_if(plan.steps, [](const lowering::step& st) { return st.chain == 0; });
        return static_cast<std::size_t>(at - plan.steps.begin());
    }
    /// The number of the chain's memory that a tensor is.
    std::size_t memory(const std::string& name) const {
        const auto& all = chain().memories;
        for (std::size_t m = 0; m < all.size(); ++m)
            if (joined.accesses[static_cast<std::size_t>(all[m].source)].name == name) return m;
        FAIL("no memory " << name);
        return 0;
    }
    std::int32_t source(const std::string& name) const { return chain().memories[memory(name)].source; }
};

/// Statements of which all, or all but some, become one chain.
program some_program(const lowering::machine& chip, const std::vector<std::string>& text, const char* operands,
                     const std::vector<std::string>& locals) {
    program out;
    out.plan = tests::lowered_program(text, operands, chip, locals);
    std::vector<lowering::statement> all;
    for (const auto& t : text) all.push_back(tests::bound_text(t, operands));
    lowering::join_statements(all, out.joined);
    REQUIRE(out.plan.chains.size() == 1);
    return out;
}

program in_place(const lowering::machine& chip) {
    return some_program(chip,
                        {"b(i,e) = B(q,i)*f(q,e)", "piv(k,e), info(e) = lu(A(i,j,e), i, j)",
                         "lu_solve(A(i,j,e), i, j, piv(k,e), b(j,e))", "y(q,e) = B(q,j)*b(j,e)"},
                        "A=f64[6,6,20000] B=f64[8,6] f=f64[8,20000] b=f64[6,20000] piv=i32[6,20000] "
                        "info=i64[20000] y=f64[8,20000]",
                        {"b"});
}

program assembled(const lowering::machine& chip, const std::string& type = "f64") {
    const auto operands =
        fmt::format("S={0}[6,6,20000] T={0}[8,6,20000] B={0}[8,6] D={0}[8,20000] M={0}[6,6,20000] X={0}[6,20000] "
                    "f={0}[6,20000] y={0}[8,20000] info=i32[20000]",
                    type);
    return some_program(chip,
                        {"T(q,j,e) = D(q,e)*B(q,j)", "S(i,j,e) = conj(B(q,i))*T(q,j,e)", "S(i,j,e) += 2*M(i,j,e)",
                         "X(j,e), info(e) = solve(S(i,j,e), i, j, f(i,e), positive_definite)",
                         "y(q,e) = B(q,j)*X(j,e)"},
                        operands.c_str(), {"S", "T", "X"});
}

bool is_model(const fake_kernel& k, const lowering::chain& c) {
    return k.at("elements_of_block") == c.elements_of_block && k.at("threads_per_block") == c.threads &&
           k.at("blocks_of_processor") == c.blocks_of_processor;
}

} // namespace

TEST_CASE("a block of a chain is refused for any memory that it writes otherwise than the model's choice") {
    const scratch_cache cache;
    const auto p = in_place(tests::some_gpu());
    const auto tuned_with = [&](const std::string& name, std::int64_t by) {
        auto& gpu = new_fake_gpu("chain's " + name);
        gpu.on_launch = [&, by](const fake_kernel& k, std::span<const std::uint64_t> words) {
            const auto& m = p.chain().memories[p.memory(name)];
            if (is_model(k, p.chain())) return;
            if (m.type == lowering::scalar_type::i32)
                reinterpret_cast<std::int32_t*>(words[p.memory(name)])[3] += static_cast<std::int32_t>(by);
            else if (m.type == lowering::scalar_type::i64)
                reinterpret_cast<std::int64_t*>(words[p.memory(name)])[3] += by;
            else
                reinterpret_cast<double*>(words[p.memory(name)])[3] += 1e-6 * static_cast<double>(by);
        };
        auto effort = everything();
        effort.tolerance = 4; // every result is checked
        return tune_kernel(gpu, p.plan, p.first_step(), p.joined, effort);
    };
    for (const char* const name : {"A", "piv", "info", "y"}) {
        INFO(name);
        const auto wrong = tuned_with(name, 1);
        CHECK(wrong.candidates.size() > 10);
        CHECK(wrong.count(fate::wrong) == wrong.candidates.size() - 1);
        REQUIRE(wrong.best);
        CHECK(lowering::tile_of(p.chain()) == wrong.candidates[*wrong.best].tile);
        CHECK(tuned_with(name, 0).count(fate::wrong) == 0);
    }
}

TEST_CASE("what a chain factors in place is put back before each launch that is timed") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("chain in place");
    const auto p = in_place(gpu.machine());
    int stale = 0;
    double first = 0;
    gpu.on_launch = [&](const fake_kernel&, std::span<const std::uint64_t> words) {
        auto* const a = reinterpret_cast<double*>(words[p.memory("A")]);
        if (first == 0) first = *a;
        stale += *a != first;
        *a = 1000;
    };
    CHECK(tune_kernel(gpu, p.plan, p.first_step(), p.joined, everything()).best);
    CHECK(stale == 0);
    CHECK(gpu.pieces == 0);
    CHECK(step_memory(gpu, p.plan, 0, p.joined, 1).is_used_up());
    const auto apart = assembled(gpu.machine());
    CHECK_FALSE(step_memory(gpu, apart.plan, 0, apart.joined, 1).is_used_up());

    // LU's pivots are far from any others.
    const step_memory memory(gpu, p.plan, 0, p.joined, 1);
    const auto* const a = static_cast<const double*>(memory.address(0, p.source("A")));
    for (int j = 0; j < 6 * 300; ++j)
        CHECK(std::count_if(a + 6 * j, a + 6 * j + 6, [](double x) { return std::abs(x) > 3.4; }) == 1);
}

TEST_CASE("what a chain assembles for Cholesky is positive definite") {
    auto& gpu = new_fake_gpu("assembled");
    using number = std::complex<double>;
    const auto p = assembled(gpu.machine(), "c128");
    const step_memory memory(gpu, p.plan, 0, p.joined, 1);
    const auto at = [&](const char* name) { return static_cast<const number*>(memory.address(0, p.source(name))); };
    const auto *const B = at("B"), *const D = at("D"), *const M = at("M");
    CHECK(std::any_of(B, B + 48, [](number x) { return x.real() < 0; }));
    for (int e = 0; e < 100; ++e) {
        number L[6][6];
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j <= i; ++j) {
                L[i][j] = 2.0 * M[i + 6 * j + 36 * e];
                for (int q = 0; q < 8; ++q) L[i][j] += std::conj(B[q + 8 * i]) * D[q + 8 * e] * B[q + 8 * j];
                for (int k = 0; k < j; ++k) L[i][j] -= L[i][k] * std::conj(L[j][k]);
                if (i > j) {
                    L[i][j] /= L[j][j];
                    continue;
                }
                CHECK(std::abs(L[i][i].imag()) < 1e-12);
                REQUIRE(L[i][i].real() > 1);
                L[i][i] = std::sqrt(L[i][i].real());
            }
    }
}

TEST_CASE("a chain's tensor that the program has met before has memory for all that the chain reaches") {
    auto& gpu = new_fake_gpu("met before");
    const auto p = some_program(gpu.machine(),
                                {"z(i) = f(i,0)", "b(i,e) = B(q,i)*f(q,e)", "info(e) = cholesky(A(i,j,e), i, j)",
                                 "cholesky_solve(A(i,j,e), i, j, b(j,e))", "y(q,e) = B(q,j)*b(j,e)"},
                                "A=f64[6,6,20000] B=f64[8,6] f=f64[8,20000] b=f64[6,20000] info=i64[20000] "
                                "y=f64[8,20000] z=f64[8]",
                                {"b"});
    const step_memory memory(gpu, p.plan, 0, p.joined, 1);
    const auto* const f = static_cast<const double*>(memory.address(0, p.source("f")));
    CHECK(std::abs(f[8 * 20000 - 1]) <= 1);
    CHECK(f[8 * 20000 - 1] != 0);
}
