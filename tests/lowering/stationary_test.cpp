// stationary_test: which products batched_stationary takes, and that whatever parameters it may have are legal.
#include "lowering/families.hpp"
#include "lowering/lower.hpp"
#include "lowering/stationary_model.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace {

using namespace ricci::lowering;
using namespace ricci::tests;

machine with_blas() {
    auto chip = some_gpu();
    chip.has_blas = true;
    return chip;
}

step first_step(const char* statement, const std::string& operands, const machine& chip = with_blas()) {
    return lower(bound_text(statement, operands), chip).steps.at(0);
}

std::string square(const char* type, int n, int batch) {
    return fmt::format("C={0}[{1},{1},{2}] A={0}[{1},{1},{2}] B={0}[{1},{1},{2}]", type, n, batch);
}

} // namespace

TEST_CASE("large products of long batches keep X in registers") {
    for (const char* statement :
         {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C(i,j,e) = A(k,i,e)*B(k,j,e)", "C(i,j,e) -= 2*A(i,k,e)*B(j,k,e)",
          "C(i,j,e) += A(k,i,e)*B(j,k,e)", "C(j,i,e) += A(i,k,e)*B(k,j,e)"})
        for (const int n : {73, 80, 97, 111, 123, 127}) {
            INFO(statement << " " << n);
            const auto st = first_step(statement, square("f64", n, 9000));
            CHECK(st.kernel == family::batched_stationary);
            // C's neighbors are in m, whatever the statement calls it.
            CHECK(st.operands[0].stride[static_cast<std::size_t>(axes_of(st, axis_class::m).front())] == 1);
        }
    const auto text = "C(i,j,e) += A(i,k,e)*B(k,j,e)";
    CHECK(first_step(text, square("f32", 85, 20000)).kernel == family::batched_stationary);
    CHECK(first_step(text, square("c64", 64, 20000)).kernel == family::batched_stationary);
    CHECK(first_step(text, square("f64", 64, 20000)).kernel == family::batched_small);
    CHECK(first_step(text, square("f32", 64, 20000)).kernel == family::batched_stationary);
    CHECK(first_step(text, square("f32", 53, 20000)).kernel == family::batched_stationary);
    CHECK(first_step(text, square("f32", 52, 20000)).kernel == family::batched_small);
    CHECK(first_step(text, square("c64", 40, 20000)).kernel == family::batched_stationary);
    CHECK(first_step(text, square("c64", 39, 20000)).kernel == family::batched_small);
    CHECK(first_step(text, square("c128", 36, 9000)).kernel == family::batched_stationary);
    CHECK(first_step(text, square("c128", 34, 9000)).kernel == family::batched_small);
    const auto few_columns = "C=f32[128,8,20000] A=f32[128,128,20000] B=f32[128,8,20000]";
    CHECK(first_step(text, few_columns).kernel == family::batched_small);
    // Columns of Y that begin anywhere would come number by number.
    const auto by_rows = "C(i,j,e) += A(i,k,e)*B(j,k,e)";
    CHECK(first_step(by_rows, square("f32", 64, 20000)).kernel == family::batched_stationary);
    CHECK(first_step(by_rows, square("f32", 63, 20000)).kernel == family::batched_small);
    CHECK(first_step(by_rows, square("f32", 97, 9000)).kernel == family::batched_small);
    CHECK(first_step(by_rows, square("f64", 97, 9000)).kernel == family::batched_stationary);
    CHECK(first_step(text, square("f64", 127, 100)).kernel == family::library); // a short batch
    CHECK(first_step(text, square("f64", 128, 9000)).kernel == family::batched_stationary);
    CHECK(first_step(text, square("c128", 70, 9000)).kernel == family::batched_stationary);
    CHECK(first_step(text, square("c128", 97, 9000)).kernel == family::library);
    auto newer = with_blas();
    newer.architecture = "sm_100"; // without products of warpgroups
    CHECK(first_step(text, square("f32", 64, 20000), newer).kernel == family::batched_small);
    auto older = with_blas();
    older.architecture = "sm_80";
    CHECK(first_step(text, square("f64", 128, 9000), older).kernel == family::library);
    older.has_blas = false;
    CHECK(first_step(text, square("f64", 128, 9000), older).kernel == family::batched_panels);
    const auto mixed = "C=f64[120,120,9000] A=f32[120,120,9000] B=f64[120,120,9000]";
    CHECK(first_step(text, mixed).kernel == family::batched_panels);
    const auto reversed = "C=f64[120,120,9000] A=f64[120:-1,120,9000] B=f64[120,120,9000]";
    CHECK(first_step(text, reversed).kernel != family::batched_stationary);
    CHECK(
        first_step("C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f64[9000,97,97] A=f64[9000,97,97] B=f64[9000,97,97]").kernel ==
        family::batched_lanes);
}

TEST_CASE("products of 16 rows and of warpgroups are where the chip has them") {
    const auto count = [](const char* type, const char* architecture, auto flag) {
        auto chip = some_gpu();
        chip.architecture = architecture;
        const auto all = stationary_candidates(
            with_columns(first_step("C(i,j,e) += A(i,k,e)*B(k,j,e)", square(type, 97, 9000), chip)), chip);
        return std::count_if(all.begin(), all.end(), [&](const batched_tile& t) { return t.*flag; });
    };
    for (const char* type : {"f32", "c64"}) {
        CHECK(count(type, "sm_90", &batched_tile::warpgroups) > 0);
        CHECK(count(type, "sm_100", &batched_tile::warpgroups) == 0);
    }
    CHECK(count("f64", "sm_90", &batched_tile::warpgroups) == 0);
    CHECK(count("f64", "sm_90", &batched_tile::rows_of_16) > 0);
    CHECK(count("f32", "sm_90", &batched_tile::rows_of_16) == 0);
}

TEST_CASE("parameters of products that keep X in registers are legal") {
    const std::array<std::array<int, 3>, 7> sizes{
        {{97, 97, 97}, {128, 128, 128}, {128, 37, 90}, {40, 128, 127}, {65, 128, 33}, {33, 33, 33}, {8, 100, 128}}};
    const auto chip = some_gpu();
    for (const char* type : {"f64", "f32", "c64", "c128", "f16", "bf16"})
        for (const auto& [m, n, k] : sizes)
            for (const char* statement : {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C(i,j,e) = A(k,i,e)*B(j,k,e)"}) {
                const bool upright = std::string_view(statement).find("A(i,k,e)") != std::string_view::npos;
                const auto operands =
                    upright
                        ? fmt::format("C={0}[{1},{2},5000] A={0}[{1},{3},5000] B={0}[{3},{2},5000]", type, m, n, k)
                        : fmt::format("C={0}[{1},{2},5000] A={0}[{3},{1},5000] B={0}[{2},{3},5000]", type, m, n, k);
                INFO(statement << " with " << operands);
                const auto st = with_columns(first_step(statement, operands, chip));
                const auto all = stationary_candidates(st, chip);
                CHECK(takes_stationary(st, chip) == !all.empty());
                CHECK(std::all_of(all.begin(), all.end(), [&](const batched_tile& t) {
                    const auto layout = stationary_layout_of(st, t);
                    const bool rows = stationary_row_warps(st, t) * t.tile_m * 8 >= extent_of(st, axis_class::m);
                    const bool warps = stationary_warps_of(st, t).load >= 1 && t.threads <= 1024 &&
                                       t.threads % 128 == 0 &&
                                       (!t.realigned || stationary_warps_of(st, t).fragment >= 1);
                    // Where helpers have fewer registers, four warps of them, others have what they gave up.
                    const auto own = stationary_registers_of(st, t, chip);
                    const auto at_first =
                        65536 / stationary_resident_blocks(st, t, chip) / t.threads / 8 * 8; // launch_bounds' limit
                    const auto free = at_first * t.threads - own.compute * (t.threads - 128);
                    const bool registers =
                        own.compute == 0 || (own.compute % 8 == 0 && own.helper % 8 == 0 && own.compute <= 240 &&
                                             own.helper >= 24 && own.helper * 128 <= free &&
                                             stationary_warps_of(st, t).compute <= t.threads / 32 - 4);
                    // Steps that are shared out together come in one slice of X.
                    const bool groups =
                        layout.along_k[1] ? t.k_panel % 8 == 0 : t.k_panel % (16 * std::max(t.k_apart, 1)) == 0;
                    const bool apart = layout.region[0] > 0 && layout.region[0] < layout.stage_bytes;
                    return rows && warps && registers && groups && apart && t.stages >= 3 &&
                           stationary_shared_bytes(st, t) <= chip.shared_bytes &&
                           stationary_resident_blocks(st, t, chip) >= 1;
                }));
            }
}
