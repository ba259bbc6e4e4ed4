// lanes_test: which interleaved products batched_lanes takes, and that it has parameters for every size.
#include "lowering/lane_ring_layout.hpp"
#include "lowering/lanes_model.hpp"
#include "lowering/lower.hpp"
#include "lowering/tile_candidates.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace {

using namespace ricci::lowering;
using namespace ricci::tests;

machine small_gpu() {
    auto chip = some_gpu();
    chip.shared_bytes = 48 << 10;
    return chip;
}

} // namespace

TEST_CASE("interleaved products: every size to 128 has parameters, all of which fit the chip", "[sweep]") {
    std::vector<std::array<int, 3>> sizes{{1, 1, 128}, {128, 1, 2}, {1, 128, 128}, {128, 3, 127}, {2, 64, 97}};
    for (int n = 2; n <= 128; ++n) sizes.push_back({n, n, n});
    for (const char* type : {"f64", "f32", "c64", "c128", "f16"})
        for (const auto& [m, n, k] : sizes)
            for (const auto& chip : {some_gpu(), small_gpu()}) {
                const auto operands =
                    fmt::format("C={0}[5000,{1},{2}] A={0}[5000,{1},{3}] B={0}[5000,{3},{2}]", type, m, n, k);
                INFO(operands << " with " << chip.shared_bytes << " bytes of shared memory");
                const auto plan = lower(bound_text("C(e,i,j) += A(e,i,k)*B(e,k,j)", operands), chip);
                REQUIRE(plan.steps.size() == 1);
                const auto& st = plan.steps[0];
                REQUIRE(st.kernel == family::batched_lanes);
                const auto all = lanes_candidates(st, chip);
                CHECK(all.size() <= 1500);
                CHECK(std::find(all.begin(), all.end(), st.batched) != all.end());
                CHECK(std::all_of(all.begin(), all.end(), [&](const batched_tile& t) {
                    if (t.boxed) {
                        const auto layout = lane_ring_layout_of(st, t);
                        const auto tiles = layout.rows / t.tile_m * (layout.columns / t.tile_n);
                        return layout.rows * layout.row_blocks >= m && layout.columns * layout.column_blocks >= n &&
                               (t.threads - 32 * lane_helper_warps(t)) * t.thread_products == t.products * tiles &&
                               t.threads <= 1024 && t.threads % 32 == 0 && layout.shared_bytes <= chip.shared_bytes;
                    }
                    if (!has_panels(t)) return t.products == t.threads;
                    const auto layout = lanes_layout_of(st, t);
                    const bool covers =
                        layout.rows * layout.row_blocks >= m && layout.columns * layout.column_blocks >= n;
                    const auto tiles = (layout.lines[1] / t.tile_m) * (layout.lines[2] / t.tile_n);
                    return covers && t.threads * t.thread_products == t.products * tiles && t.threads <= 1024 &&
                           t.threads % 32 == 0 && lanes_shared_bytes(st, t) <= chip.shared_bytes;
                }));
            }
}

TEST_CASE("interleaved products: whose lines move in boxes, aligned or shifted") {
    enum kind : std::uint8_t { neither, aligned, shifted };
    const auto found = [](const char* operands, machine chip = some_gpu()) {
        const auto st = lower(bound_text("C(e,i,j) += A(e,i,k)*B(e,k,j)", operands), chip).steps.at(0);
        const auto all = lanes_candidates(st, chip);
        const auto boxed = std::find_if(all.begin(), all.end(), [](const batched_tile& t) { return t.boxed; });
        return boxed == all.end() ? neither : is_shifted(*boxed) ? shifted : aligned;
    };
    CHECK(found("C=f64[5000,16,16] A=f64[5000,16,16] B=f64[5000,16,16]") == aligned);
    CHECK(found("C=f64[5001,16,16] A=f64[5001,16,16] B=f64[5001,16,16]") == shifted);
    CHECK(found("C=f64[5001:1,16:5002,16:80032] A=f64[5001:1,16:5002,16:80032] B=f64[5001:1,16:5002,16:80032]") ==
          shifted); // ends at no multiple of 16 bytes
    CHECK(found("C=c128[5001,16,16] A=c128[5001,16,16] B=c128[5001,16,16]") == aligned);
    CHECK(found("C=f32[5002,16,16] A=f32[5002,16,16] B=f32[5002,16,16]") == shifted);
    CHECK(found("C=f32[5002,3,16] A=f32[5002,3,16] B=f32[5002,16,16]") == neither); // fewer rows than residues
    CHECK(found("C=f32[5000,16,16] A=f32[5000:0,16:1,16:16] B=f32[5000,16,16]") == neither);   // one for all
    CHECK(found("C=f32[70,6,8] A=f32[70:1,6:1,9:75] B=f32[70,9,8]") == neither);               // lines that overlap
    CHECK(found("C=f32[2100003,64,64] A=f32[2100003,64,64] B=f32[2100003,64,64]") == neither); // too far for a plane
    auto older = some_gpu();
    older.architecture = "sm_80";
    CHECK(found("C=f64[5000,16,16] A=f64[5000,16,16] B=f64[5000,16,16]", older) == neither);
}

TEST_CASE("interleaved products: what batched_lanes takes") {
    const auto kernel = [](const char* statement, const char* operands) {
        return lower(bound_text(statement, operands), some_gpu()).steps.at(0).kernel;
    };
    const auto text = "C(e,i,j) += A(e,i,k)*B(e,k,j)";
    CHECK(kernel(text, "C=f64[50,3,4] A=f64[50,3,5] B=f64[50,5,4]") == family::batched_lanes);
    CHECK(kernel(text, "C=f64[50,100,128] A=f64[50,100,70] B=f64[50,70,128]") == family::batched_lanes);
    CHECK(kernel(text, "C=f64[50,100,129] A=f64[50,100,70] B=f64[50,70,129]") == family::gett);
    CHECK(kernel(text, "C=f64[50:2,3:100,4:300] A=f64[50,3,5] B=f64[50,5,4]") == family::batched_small);
    CHECK(kernel("C(i,j,e) += A(e,i,k)*B(e,k,j)", "C=f64[3,4,50] A=f64[50,3,5] B=f64[50,5,4]") ==
          family::batched_small);
    const auto axes = "C(e,i,j,f) += A(e,i,k,f)*B(e,k,j,f)";
    CHECK(kernel(axes, "C=f64[16,3,4,50] A=f64[16,3,5,50] B=f64[16,5,4,50]") == family::batched_lanes);
    CHECK(kernel(axes, "C=f64[15,3,4,50] A=f64[15,3,5,50] B=f64[15,5,4,50]") == family::batched_small);
}
