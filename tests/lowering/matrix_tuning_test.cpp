// matrix_tuning_test: which measurements lowering takes for factorizations and solves, and what they are kept under.
#include "lowering/factor_layout.hpp"
#include "lowering/lower.hpp"
#include "lowering/tile_candidates.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <string>

using namespace ricci::lowering;
using namespace ricci::tests;

namespace {

const machine chip = some_gpu();

statement lu_of(int n, int batch = 100000, const char* type = "f64") {
    return bound_text("piv(k,e), info(e) = lu(A(i,j,e), i, j)",
                      fmt::format("A={0}[{1},{1},{2}] piv=i32[{1},{2}] info=i32[{2}]", type, n, batch));
}

step first_step(const statement& s, const priors& known = {}) { return lower(s, chip, known).steps.at(0); }

tuning_key key(const char* text, const char* operands) {
    return key_of(first_step(bound_text(text, operands)), chip);
}

} // namespace

TEST_CASE("keys of factorizations and solves: method, type, what is solved for, how it lies, sizes") {
    const auto lu = key_of(first_step(lu_of(16)), chip);
    CHECK(lu.layout == "factor_lanes LU in f64 in place, A m");
    CHECK(lu.strides == "A m1 n16 e256");
    CHECK(lu.sizes == std::array<std::int64_t, 3>{16, 16, 1});
    CHECK(lu.batch == batch_class::many);
    CHECK(lu == key_of(first_step(lu_of(16, 90001)), chip));
    CHECK(key_of(first_step(lu_of(16, 1)), chip).batch == batch_class::one);
    CHECK(key_of(first_step(lu_of(16, 9)), chip).batch == batch_class::few);
    for (const auto& [text, operands] :
         {std::pair<const char*, const char*>{"lu(A(i,j,e), i, j, unpivoted)", "A=f64[16,16,90000]"},
          {"piv(k,e) = lu(A(i,j,e), i, j)", "A=f32[16,16,90000] piv=i32[16,90000]"},
          {"piv(k,e) = lu(A(i,j,e), j, i)", "A=f64[16,16,90000] piv=i32[16,90000]"},
          {"piv(k,e) = lu(A(e,i,j), i, j)", "A=f64[90000,16,16] piv=i32[16,90000]"},
          {"piv(k,e) = lu(A(i,j,e), i, j)", "A=f64[16:1,16:20,90000:320] piv=i32[16,90000]"},
          {"X(j,e) = solve(A(i,j,e), i, j, B(i,e))", "A=f64[16,16,90000] X=f64[16,90000] B=f64[16,90000]"},
          {"cholesky(A(i,j,e), i, j)", "A=f64[16,16,90000]"}}) {
        INFO(text << " " << operands);
        const auto other = key(text, operands);
        CHECK_FALSE(lu.layout + lu.strides == other.layout + other.strides);
    }
    const auto solve =
        key("X(j,r,e) = solve(A(i,j,e), i, j, B(i,r,e))", "A=c64[8,8,90000] X=c64[8,3,90000] B=c64[8,3,90000]");
    CHECK(solve.layout == "factor_lanes LU in c64, A m, X n, B m");
    CHECK(solve.sizes == std::array<std::int64_t, 3>{8, 8, 3});
    const auto are_same = [](const auto& a, const auto& b) { return a.layout == b.layout && a.strides == b.strides; };
    CHECK(are_same(solve, key("solve(A(i,j,e), i, j, X(j,r,e))", "A=c64[8,8,90000] X=c64[8,3,90000]")));
    CHECK(are_same(key("lu_solve(A(i,j,e), i, j, p(k,e), X(i,r,e), adjoint)",
                       "A=f64[8,8,90000] p=i32[8,90000] X=f64[8,2,90000]"),
                   key("X(i,r,e) = lu_solve(A(i,j,e), i, j, p(k,e), B(j,r,e), adjoint)",
                       "A=f64[8,8,90000] p=i32[8,90000] B=f64[8,2,90000] X=f64[8,2,90000]")));
    CHECK(key("X(j,r,e) = least_squares(A(i,j,e), i, j, B(i,r,e))",
              "A=f64[8,12,90000] B=f64[8,3,90000] X=f64[12,3,90000]")
              .layout == "factor_lanes QR in f64, A n, X m, B n"); // of equations of another number than unknowns
    CHECK(
        key("triangular_solve(conj(A(i,j,e)), i, j, X(j,e), upper, unit_diagonal)", "A=c64[8,8,90000] X=c64[8,90000]")
            .layout == "substitute triangular in c64 upper unit, A m conj, X n, B m");
    CHECK(key("lu_solve(A(i,j,e), i, j, p(k,e), X(i,e), adjoint)", "A=f64[8,8,90000] p=i32[8,90000] X=f64[8,90000]")
              .layout == "substitute LU in f64 adjoint, A m, X m, B m");
}

TEST_CASE("a measured tile of a factorization is taken, with the memory that it wants") {
    for (const auto& s : {lu_of(16), lu_of(50, 20000, "c64"), lu_of(300, 500),
                          bound_text("tau(k,e) = qr(A(i,j,e), i, j)", "A=f64[24,24,90000] tau=f64[24,90000]"),
                          bound_text("cholesky_solve(A(i,j,e), i, j, X(j,e))", "A=f64[24,24,90000] X=f64[24,90000]"),
                          bound_text("X(j,r,e) = least_squares(A(i,j,e), i, j, B(i,r,e))",
                                     "A=f64[300,280,200] B=f64[300,40,200] X=f64[280,40,200]")}) {
        const auto st = first_step(s);
        CHECK(st.origin == tile_origin::model);
        CHECK(is_worth_tuning(st, chip));
        const auto all = tile_candidates(st, chip);
        REQUIRE(all.size() > 1);
        CHECK(all.front() == st.batched);
        CHECK(model_tile(st, chip) == st.batched);
        for (const auto& tile : all) {
            tuning_table measured;
            measured.put(key_of(st, chip), {tile, 1e-3});
            const auto chosen = first_step(s, {&measured, nullptr});
            CHECK(chosen.origin == tile_origin::measured);
            CHECK(chosen.batched == tile);
            CHECK(chosen.kernel == st.kernel);
            const auto bytes = factor_workspace_bytes(chosen, tile, chip);
            CHECK(chosen.workspace.bytes == bytes);
            CHECK((chosen.workspace.source < 0) == (bytes > 0));
        }
        auto bad = all.back();
        bad.threads = 33;
        tuning_table spoiled;
        spoiled.put(key_of(st, chip), {bad, 1e-3});
        CHECK_FALSE(first_step(s, {&spoiled, nullptr}).batched == bad);
    }
}

TEST_CASE("what measured best at sizes nearby is not asked of a factorization; of a solve with factors it is") {
    const auto at = first_step(lu_of(18));
    auto other = at.batched;
    for (const auto& t : tile_candidates(at, chip))
        if (t.threads == 64 && t.tile_m == at.batched.tile_m && t.k_panel == at.batched.k_panel) other = t;
    REQUIRE_FALSE(other == at.batched);
    tuning_table measured;
    measured.put(key_of(at, chip), {other, 1e-3});
    CHECK(first_step(lu_of(18), {&measured, nullptr}).batched == other);
    const auto chosen = first_step(lu_of(17), {&measured, nullptr});
    CHECK(chosen.origin == tile_origin::model);
    CHECK(chosen.batched == first_step(lu_of(17)).batched);

    const auto solve_of = [](int n) {
        const auto size = std::to_string(n);
        return bound_text("cholesky_solve(A(i,j,e), i, j, X(j,e))",
                          "A=f64[" + size + "," + size + ",90000] X=f64[" + size + ",90000]");
    };
    const auto solve = first_step(solve_of(24));
    measured.put(key_of(solve, chip), {solve.batched, 1e-3});
    CHECK(first_step(solve_of(23), {&measured, nullptr}).origin == tile_origin::neighbors);
}

TEST_CASE("a factorization that has one set of parameters, or sizes as arguments, is not worth tuning") {
    const auto cpu = some_cpu();
    CHECK_FALSE(is_worth_tuning(lower(lu_of(8), cpu).steps.at(0), cpu));
    const auto qr = bound_text("tau(k,e) = qr(A(i,j,e), i, j)", "A=f64[200,200,9] tau=f64[200,9]");
    CHECK(is_worth_tuning(lower(qr, cpu).steps.at(0), cpu));
    CHECK_FALSE(is_worth_tuning(lower(qr, cpu, {}, true).steps.at(0), cpu));
    tuning_table measured;
    measured.put(key_of(lower(qr, cpu).steps.at(0), cpu),
                 {tile_candidates(lower(qr, cpu).steps.at(0), cpu).back(), 1});
    CHECK(lower(qr, cpu, {&measured, nullptr}, true).steps.at(0).origin == tile_origin::model);
}

TEST_CASE("panels and lines that a GPU's kernels cannot count in 32 bits are refused; larger matrices are not") {
    const auto lowered = [](const char* text, const std::string& operands) {
        return lower(bound_text(text, operands), chip).steps.at(0);
    };
    const auto qr = [&](std::int64_t rows, int columns, const char* type) {
        return lowered("tau(k,e) = qr(A(i,j,e), i, j)",
                       fmt::format("A={0}[{1},{2},1] tau={0}[{2},1]", type, rows, columns));
    };
    for (const char* const type : {"f32", "f64", "c64", "c128"}) {
        // eight columns of 2^31 elements together, but for a few of the kernel's own
        const auto st = qr((std::int64_t{1} << 28) - 200, 9, type);
        CHECK(st.kernel == family::factor_blocked);
        for (const auto& t : tile_candidates(st, chip)) CHECK(t.k_panel == 8);
        CHECK_THROWS_WITH(qr(std::int64_t{1} << 28, 9, type),
                          Catch::Contains("no kernel for this device takes matrices of 268435456 x 9"));
    }
    CHECK_THROWS_WITH(qr(300000000, 8, "f32"), Catch::Contains("takes matrices of 300000000 x 8 in f32"));
    CHECK_THROWS_WITH(lowered("X(j,r,e) = solve(A(i,j,e), i, j, B(i,r,e))",
                              "A=f32[2000,2000,1] X=f32[2000,1100000000,1] B=f32[2000,1100000000,1]"),
                      Catch::Contains("with 1100000000 right-hand sides"));
    CHECK(lowered("lu(A(i,j,e), i, j, unpivoted)", "A=f32[50000,50000,1]").kernel == family::factor_blocked);
    CHECK(qr(50000, 50000, "f32").kernel == family::factor_blocked);
}
