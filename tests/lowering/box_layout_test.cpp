// box_layout_test: which operands move in boxes, and that what parameters move them are legal.
#include "lowering/box_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/lower.hpp"
#include "lowering/sm_limits.hpp"
#include "lowering/tall_skinny_ab_layout.hpp"
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
using enum axis_class;

step tall(const std::string& statement, const std::string& operands, const machine& chip = some_gpu()) {
    return lower(bound_text(statement, operands), chip).steps.at(0);
}
const std::string atb = "C(i,j) = A(k,i)*B(k,j)", ab = "C(i,j) = A(i,k)*B(k,j)";

bool has_boxed(const step& st, const machine& chip = some_gpu()) {
    const auto candidates = tile_candidates(st, chip);
    return std::any_of(candidates.begin(), candidates.end(), [](const batched_tile& t) { return t.boxed; });
}

} // namespace

TEST_CASE("an operand's boxes are of columns that lie one after another") {
    const auto chip = some_gpu();
    const auto st = tall(atb, "C=f32[20,17] A=f32[5001:1,20:5004] B=f32[5001:1,17:6000]");
    const auto x = boxes_of(st, 1, k, m, chip), y = boxes_of(st, 2, k, n, chip);
    REQUIRE(x);
    REQUIRE(y);
    CHECK(x->extent == std::array<std::int64_t, 3>{5001, 20, 1});
    CHECK(x->between[0] == 4 * 5004);
    CHECK(y->between[0] == 4 * 6000);
    CHECK(box_elements(x->element) == 32);
    CHECK(box_bytes(x->extent[1]) == 3 * 1024); // of eight lines, filled up
    CHECK_FALSE(boxes_of(st, 1, m, k, chip)); // rows lie apart
    auto older = chip;
    older.architecture = "sm_80";
    CHECK_FALSE(boxes_of(st, 1, k, m, older));
    CHECK_FALSE(boxes_of(tall(atb, "C=c128[20,17] A=c128[5001,20] B=c128[5001,17]"), 1, k, m, chip));
    // a column that overlaps the next; 2^31 elements
    CHECK_FALSE(boxes_of(tall(atb, "C=f32[20,17] A=f32[5001:1,20:17] B=f32[5001,17]"), 1, k, m, chip));
    CHECK_FALSE(boxes_of(tall(atb, "C=f32[20,17] A=f32[2147483648,20] B=f32[2147483648,17]"), 1, k, m, chip));
}

TEST_CASE("boxes of a matrix that begins anywhere end with it") {
    // 3 lines of 4 floats, 5 apart, of which every fourth is alike; the last line is 10 floats behind the first
    box_layout b{4, {8, 1, 3}, {80, 16}, {36, 1, 1}, false, 4 * 14, 4 * 10};
    CHECK(takes_boxes_at(b, 1004));
    CHECK_FALSE(takes_boxes_at(b, 1002));
    CHECK(line_length(b, 1024) == 8); // from 1056, 8 bytes before the last line, to 1088, 8 bytes behind its end
    CHECK(line_length(b, 1028) == 8); // from 1056 to 1088
    CHECK(line_length(b, 1032) == 4); // from 1072 to 1088, where it begins and ends
    b.last_line = -1;
    CHECK(line_length(b, 1032) == 8);
    b.bytes_from_anywhere = 0;
    CHECK_FALSE(takes_boxes_at(b, 1004));
    CHECK(takes_boxes_at(b, 1024));
    b.between = {84, 16};
    CHECK_FALSE(takes_boxes_at(b, 1024));
}

TEST_CASE("columns of tall products may move in boxes, A^T B's whatever their length; other layouts not") {
    for (const char* type : {"f64", "f32", "c64"})
        for (const int height : {700000, 700001}) {
            INFO(type << " " << height);
            const auto columns = [&](const char* pattern) {
                return fmt::format(fmt::runtime(pattern), type, height);
            };
            CHECK(has_boxed(tall(atb, columns("C={0}[20,17] A={0}[{1},20] B={0}[{1},17]"))));
            CHECK(has_boxed(tall(ab, columns("C={0}[{1},20] A={0}[{1},17] B={0}[17,20]"))) ==
                  (height % 2 == 0));
            CHECK_FALSE(has_boxed(
                tall("C(i,j) = A(i,k)*B(j,k)", columns("C={0}[20,17] A={0}[20,{1}] B={0}[17,{1}]"))));
            CHECK_FALSE(has_boxed(tall(ab, columns("C={0}[{1}:20,20:1] A={0}[{1},17] B={0}[17,20]"))));
        }
    CHECK_FALSE(has_boxed(tall(atb, "C=f32[20,17] A=f16[700000,20] B=f16[700000,17]")));
    CHECK_FALSE(has_boxed(tall(ab, "C=f64[700000,20] A=f32[700000,17] B=f64[17,20]")));
}

TEST_CASE("what parameters boxes may have fits an SM") {
    auto chip = some_gpu();
    chip.has_blas = false; // it would take some of them
    for (const char* type : {"f64", "f32", "c64"})
        for (const auto& [n, k] : {std::pair{8, 64}, {17, 9}, {33, 31}, {64, 64}})
            for (const std::string op : {"=", "+="}) {
                const auto height = 1000000;
                INFO(type << " " << n << " " << k << " " << op);
                const auto st = tall("C(i,j) " + op + " A(i,k)*B(k,j)",
                                     fmt::format("C={0}[{1},{2}] A={0}[{1},{3}] B={0}[{3},{2}]", type, height, n, k),
                                     chip);
                int boxed = 0;
                for (const auto& t : tile_candidates(st, chip)) {
                    if (!t.boxed) continue;
                    ++boxed;
                    CHECK(ab_shared_bytes(st, t) <= chip.shared_bytes);
                    CHECK(ab_registers(st, t) * t.threads <= registers_of_an_sm);
                    CHECK(t.stages >= 2);
                    CHECK(t.threads / warp * t.stages * 8 + 4 <= box_alignment); // barriers, and a flag
                }
                CHECK(boxed > 0);
            }
    const auto st = tall(atb, "C=f32[40,17] A=f32[100000,40] B=f32[100000,17]");
    for (const auto& t : tile_candidates(st, chip)) {
        if (!t.boxed) continue;
        CHECK(atb_shared_bytes(st, t) <= chip.shared_bytes);
        CHECK(t.k_panel % (32 * t.slices) == 0); // whole boxes for each slice
    }
}
