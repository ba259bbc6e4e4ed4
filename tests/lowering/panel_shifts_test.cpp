// panel_shifts_test: which tall A^T B comes by boxes of columns that are aligned alike, and how these lie.
#include "lowering/lower.hpp"
#include "lowering/panel_shifts.hpp"
#include "lowering/sm_limits.hpp"
#include "lowering/tall_skinny_atb_layout.hpp"
#include "lowering/tile_candidates.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace {

using namespace ricci::lowering;
using namespace ricci::tests;

step tall(const std::string& operands, const machine& chip = some_gpu(),
          const char* statement = "C(i,j) = A(k,i)*B(k,j)") {
    return lower(bound_text(statement, operands), chip).steps.at(0);
}

int realigned(const step& st, const machine& chip = some_gpu()) {
    const auto all = tile_candidates(st, chip);
    return static_cast<int>(std::count_if(all.begin(), all.end(), [](const auto& t) { return t.realigned; }));
}

} // namespace

TEST_CASE("tall columns that start anywhere may come by boxes, if there are as many as start differently") {
    CHECK(realigned(tall("C=f32[8,4] A=f32[4000001,8] B=f32[4000001,4]")) > 0);
    CHECK(realigned(tall("C=f64[20,17] A=f64[4000001,20] B=f64[4000001,17]")) > 0);
    CHECK(realigned(tall("C=f32[8,9] A=f16[4000004,8] B=f16[4000004,9]")) > 0);
    CHECK(realigned(tall("C=c64[9,8] A=c64[4000001,9] B=c64[4000001,8]")) > 0);
    // X at multiples of 16 bytes, Y not
    CHECK(realigned(tall("C=f32[16,16] A=f32[4000001:1,16:4000004] B=f32[4000001,16]")) > 0);

    CHECK(realigned(tall("C=f32[8,3] A=f32[4000001,8] B=f32[4000001,3]")) == 0); // of the four that may
    CHECK(realigned(tall("C=f32[9,7] A=f16[4000001,9] B=f16[4000001,7]")) == 0); // of the eight
    CHECK(realigned(tall("C=f32[16,16] A=f32[4000000,16] B=f32[4000000,16]")) == 0);
    CHECK(realigned(tall("C=f32[16,16] A=f32[3001,16] B=f32[3001,16]")) == 0); // low ones share their kernels
    CHECK(realigned(tall("C=c128[9,9] A=c128[4000001,9] B=c128[4000001,9]")) == 0);
    CHECK(realigned(tall("C=f64[9,9] A=f64[9,4000001] B=f64[9,4000001]", some_gpu(), "C(i,j) = A(i,k)*B(j,k)")) == 0);
    // lines that are 16 GiB long together
    CHECK(realigned(tall("C=f32[8,8] A=f32[1500000001:1,8:1500000001] B=f32[1500000001,8]")) == 0);
    auto older = some_gpu();
    older.architecture = "sm_80";
    CHECK(realigned(tall("C=f64[20,17] A=f64[4000001,20] B=f64[4000001,17]", older), older) == 0);
}

TEST_CASE("boxes have every so-manyth column, from the multiple of 16 bytes before it on, and 16 bytes more") {
    const auto st = tall("C=f32[10,16] A=f32[4000001,10] B=f32[4000001,16]");
    batched_tile t;
    t.core = batched_core::mma, t.k_panel = 256, t.realigned = true;
    const auto layout = shifted_panel_layout_of(st, t);
    CHECK(layout.steps == 128);
    CHECK(layout.boxes == 2 * 2 * 4);
    CHECK(layout.box_bytes[1] == 1664); // three columns of 132 numbers, a multiple of 128
    CHECK(layout.box_bytes[2] == 2176); // four
    CHECK(layout.region[2] == 8 * 1664);
    CHECK(layout.stage_bytes == 8 * (1664 + 2176));

    using extents = std::array<std::int64_t, 3>;
    const auto most = shifted_panel_boxes(st, 1, t, shifted_columns::most);
    CHECK(most.extent == extents{4000004, 3, 3000002}); // planes 16 bytes apart, to the fourth column
    CHECK(most.between == std::array<std::int64_t, 2>{16 * 4000001, 16});
    CHECK(most.box == extents{132, 3, 1});
    CHECK(most.bytes_from_anywhere == 4 * 10 * 4000001LL);
    CHECK(has_fewer_columns(st, 1));
    CHECK(shifted_panel_boxes(st, 1, t, shifted_columns::fewer).extent[1] == 2);
    CHECK_FALSE(has_fewer_columns(st, 2));
}

TEST_CASE("panels that come by boxes and are moved fit an SM, and their barriers their room") {
    const auto chip = some_gpu();
    for (const char* type : {"f16", "f32", "f64", "c64"})
        for (const int n : {8, 13, 24, 40, 64}) {
            const auto st = tall(fmt::format("C={0}[{1},{1}] A={2}[4000001,{1}] B={2}[4000001,{1}]",
                                             type == std::string("f16") ? "f32" : type, n, type));
            for (const auto& t : tile_candidates(st, chip)) {
                if (!t.realigned) continue;
                INFO(type << " " << n << " " << t.k_panel << " " << t.stages);
                CHECK(atb_shared_bytes(st, t) <= chip.shared_bytes);
                CHECK((t.stages >= 2 && t.stages <= most_raw_stages));
                CHECK(2 * 8 * (t.stages + atb_stages(t)) <= atb_barrier_bytes(t));
                CHECK(t.k_panel % shifted_panel_layout_of(st, t).steps == 0);
                CHECK(atb_registers(st, t) * atb_threads(st, t) <= registers_of_an_sm);
            }
        }
}
