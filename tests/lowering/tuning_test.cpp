// tuning_test: which measurements lowering takes for a step, and what it makes of those at sizes nearby.
#include "lowering/batched_model.hpp"
#include "lowering/families.hpp"
#include "lowering/lower.hpp"
#include "lowering/tile_candidates.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace {

using namespace ricci::lowering;
using namespace ricci::tests;

const machine chip = some_gpu();

statement product(int n, int batch = 100000, const char* text = "C(i,j,e) += A(i,k,e)*B(k,j,e)",
                  const char* type = "f64") {
    return bound_text(text, fmt::format("C={0}[{1},{1},{2}] A={0}[{1},{1},{2}] B={0}[{1},{1},{2}]", type, n, batch));
}

step first_step(const statement& s, const priors& known = {}) { return lower(s, chip, known).steps.at(0); }

tuning_key key(const char* text, const char* operands) {
    for (const auto& st : lower(bound_text(text, operands), chip).steps)
        if (has_tile(st, chip)) return key_of(st, chip);
    FAIL("no kernel has a tile: " << text);
    return {};
}

/// A candidate that the model does not choose.
batched_tile another_tile(const step& st) {
    for (const auto& t : tile_candidates(st, chip))
        if (t.threads == 256 && t.tile_m == 1 && t.core == batched_core::fma) return t;
    FAIL("no such candidate");
    return {};
}

} // namespace

TEST_CASE("an exact entry is taken, the chip's own before the shipped one") {
    const auto st = first_step(product(8));
    CHECK(st.origin == tile_origin::model);
    const auto own = another_tile(st);
    auto others = own;
    others.threads = 64;
    tuning_table measured, shipped;
    measured.put(key_of(st, chip), {own, 1e-3});
    shipped.put(key_of(st, chip), {others, 1e-3});
    const auto by_both = first_step(product(8), {&measured, &shipped});
    CHECK(by_both.batched == own);
    CHECK(by_both.origin == tile_origin::measured);
    const auto by_shipped = first_step(product(8), {nullptr, &shipped});
    CHECK(by_shipped.batched == others);
    CHECK(by_shipped.origin == tile_origin::shipped);
    const tuning_table empty;
    CHECK(first_step(product(8), {&empty, &empty}).batched == st.batched);
}

TEST_CASE("an entry that the kernel could not run is ignored") {
    const auto st = first_step(product(8));
    for (const auto spoil : {+[](batched_tile& t) { t.threads = 96; }, +[](batched_tile& t) { t.products = 100000; },
                             +[](batched_tile& t) { t.tile_m = 9; }}) {
        auto bad = another_tile(st);
        spoil(bad);
        tuning_table measured;
        measured.put(key_of(st, chip), {bad, 1e-3});
        const auto chosen = first_step(product(8), {&measured, nullptr});
        CHECK_FALSE(chosen.batched == bad);
        const auto all = tile_candidates(st, chip);
        CHECK(std::find(all.begin(), all.end(), chosen.batched) != all.end());
    }
}

TEST_CASE("a full chip's entry serves smaller batches, but theirs not a full chip") {
    const auto many = first_step(product(8)), few = first_step(product(8, 1000)), one = first_step(product(8, 1));
    CHECK(key_of(many, chip).batch == batch_class::many);
    CHECK(key_of(few, chip).batch == batch_class::few);
    CHECK(key_of(one, chip).batch == batch_class::one);
    CHECK(key_of(many, chip).layout == key_of(one, chip).layout);
    CHECK(key_of(many, chip).strides == key_of(one, chip).strides);
    const auto tile = another_tile(many);
    tuning_table of_many, of_few;
    of_many.put(key_of(many, chip), {tile, 1e-3});
    of_few.put(key_of(few, chip), {tile, 1e-3});
    CHECK(first_step(product(8, 1), {&of_many, nullptr}).batched == tile);
    CHECK(first_step(product(8, 1000), {&of_many, nullptr}).batched == tile);
    CHECK(first_step(product(8, 1), {&of_few, nullptr}).batched == tile);
    CHECK(first_step(product(8), {&of_few, nullptr}).origin == tile_origin::model);
}

TEST_CASE("a tall matrix's entry does not serve low ones: its blocks have many rows") {
    const auto of_height = [](const char* operands, const priors& known = {}) {
        return first_step(bound_text("C(i,j) = A(i,k)*B(k,j)", operands), known);
    };
    const auto tall = of_height("C=f64[4000000,8] A=f64[4000000,8] B=f64[8,8]");
    const char* const low = "C=f64[4000,8] A=f64[4000,8] B=f64[8,8]";
    tuning_table of_tall;
    of_tall.put(key_of(tall, chip), {another_tile(tall), 1e-3});
    CHECK(of_height("C=f64[4000004,8] A=f64[4000004,8] B=f64[8,8]", {&of_tall, nullptr}).origin ==
          tile_origin::measured);
    CHECK(of_height(low, {&of_tall, nullptr}).origin == tile_origin::model);
    const char* const middle = "C=f64[100000,8] A=f64[100000,8] B=f64[8,8]";
    CHECK(of_height(middle, {&of_tall, nullptr}).origin == tile_origin::measured);
    CHECK(key_of(of_height(middle), chip).batch == batch_class::some);
}

TEST_CASE("the height of a tall matrix, an argument of its kernel, decides between three kernels at most, and of the "
          "tallest between columns at multiples of 16 bytes and others") {
    for (const auto& [text, pattern] :
         {std::pair<const char*, const char*>{"C(i,j) = A(k,i)*B(k,j)", "C=f32[24,31] A=f32[{0},24] B=f32[{0},31]"},
          {"C(j,i) += A(k,i)*B(k,j)", "C=f32[48,{0}] A=f32[48,{0}] B=f32[48,48]"},
          {"C(i,j) = A(i,k)*B(k,j)", "C=f32[{0},8] A=f16[{0},8] B=f16[8,8]"}}) {
        const auto kernels_of = [&, text = text, pattern = pattern](std::int64_t multiple) {
            std::vector<std::pair<family, batched_tile>> kernels;
            for (std::int64_t height = 3000; height < 100'000'000; height = height * 7 / 5) {
                const auto own_height = height / multiple * multiple;
                const auto st = first_step(bound_text(text, fmt::format(fmt::runtime(pattern), own_height)));
                const std::pair own(st.kernel, st.batched);
                if (std::find(kernels.begin(), kernels.end(), own) == kernels.end()) kernels.push_back(own);
            }
            return kernels.size();
        };
        INFO(text);
        CHECK(kernels_of(8) <= 3);
        CHECK(kernels_of(1) <= 4);
    }
}

TEST_CASE("the rows that a tall product's batch leaves are not tuned: their kernel is that of low ones") {
    const auto s = bound_text("C(j,i) = A(k,i)*B(k,j)", "C=f64[24,99999] A=f64[31,99999] B=f64[31,24]");
    const auto p = lower(s, chip);
    REQUIRE(p.steps.size() == 2);
    CHECK(is_worth_tuning(p.steps[0], chip));
    CHECK_FALSE(is_worth_tuning(p.steps[1], chip));
    const auto low = bound_text("C(j,i) = A(k,i)*B(k,j)", "C=f64[24,3999] A=f64[31,3999] B=f64[31,24]");
    CHECK(key_of(p.steps[1], chip) == key_of(lower(low, chip).steps.at(0), chip));
}

TEST_CASE("and whether its columns all start at multiples of 16 bytes between three others") {
    struct expected {
        const char* pattern;
        std::size_t on_lines, anywhere;
    };
    for (const auto& [pattern, count_on_lines, count_anywhere] :
         {expected{"C=f32[{0},24] A=f16[{0},31] B=f16[31,24]", 3, 3},
          {"C=f32[{0},24] A=f32[{0},31] B=f32[31,24]", 2, 3},
          {"C=f64[{0},51] A=f64[{0},51] B=f64[51,51]", 3, 2}}) {
        std::vector<std::pair<family, batched_tile>> on_lines, anywhere;
        for (std::int64_t height = 3000; height < 100'000'000; height = height * 7 / 5)
            for (const bool on : {true, false}) {
                auto& kernels = on ? on_lines : anywhere;
                const auto st = first_step(bound_text(
                    "C(i,j) = A(i,k)*B(k,j)", fmt::format(fmt::runtime(pattern), height / 8 * 8 + (on ? 0 : 1))));
                const std::pair own(st.kernel, st.batched);
                if (std::find(kernels.begin(), kernels.end(), own) == kernels.end()) kernels.push_back(own);
            }
        INFO(pattern);
        CHECK(on_lines.size() == count_on_lines);
        CHECK(anywhere.size() == count_anywhere);
        CHECK(on_lines != anywhere);
    }
}

TEST_CASE("tall columns that start within sectors of 32 bytes are measured by themselves, but for narrow A^T*B") {
    const auto ab = [&](const char* type, int height, int width) {
        return key("C(i,j) = A(i,k)*B(k,j)",
                   fmt::format("C={0}[{1},{2}] A={0}[{1},{2}] B={0}[{2},{2}]", type, height, width).c_str())
            .layout;
    };
    const auto atb = [&](const char* type, int height, int width) {
        return key("C(i,j) = A(k,i)*B(k,j)",
                   fmt::format("C={0}[{2},{2}] A={0}[{1},{2}] B={0}[{1},{2}]", type, height, width).c_str())
            .layout;
    };
    CHECK(ab("f32", 4194304, 24) == ab("f32", 4194312, 24));
    CHECK(ab("f32", 4194308, 24) == ab("f32", 4194304, 24) + ", columns off sectors");
    CHECK(ab("f32", 4194307, 24) == ab("f32", 4194304, 24) + ", columns anywhere");
    CHECK(ab("f64", 4194306, 2) == ab("f64", 4194304, 2) + ", columns off sectors");
    CHECK(ab("f32", 20004, 24) == ab("f32", 20000, 24)); // low ones are not
    CHECK(atb("f64", 4194306, 16) == atb("f64", 4194304, 16) + ", columns off sectors");
    CHECK(atb("f64", 4194306, 7) == atb("f64", 4194304, 7));
}

TEST_CASE("where nothing was measured of columns within sectors, what was of others is taken") {
    const auto of_height = [&](int height, const priors& known = {}) {
        return first_step(
            bound_text("C(i,j) = A(k,i)*B(k,j)", fmt::format("C=c64[16,16] A=c64[{0},16] B=c64[{0},16]", height)),
            known);
    };
    const auto on_sectors = of_height(4194304), within = of_height(4194306);
    const auto other = another_tile(on_sectors);
    tuning_table table;
    table.put(key_of(on_sectors, chip), {other, 1e-3});
    CHECK(of_height(4194306, {&table, nullptr}).batched == other);
    table.put(key_of(within, chip), {within.batched, 1e-3});
    CHECK(of_height(4194306, {&table, nullptr}).batched == within.batched);
}

TEST_CASE("what comes by short pieces of columns is longer where these start within sectors") {
    const auto seconds = [&](int height) {
        const auto st = first_step(
            bound_text("C(i,j) = A(i,k)*B(k,j)", fmt::format("C=f32[{0},48] A=f32[{0},48] B=f32[48,48]", height)));
        batched_tile wide, narrow;
        for (const auto& t : tile_candidates(st, chip))
            if (t.boxed && t.threads == 128) (t.tile_m == 4 ? wide : narrow) = t;
        REQUIRE((wide.boxed && narrow.boxed));
        const auto both = predicted_seconds(st, {wide, narrow}, chip);
        return both[1] / both[0];
    };
    CHECK(seconds(4194308) > 1.05 * seconds(4194304));
}

TEST_CASE("a CPU of AMD's is asked to fetch ahead for large products only") {
    const auto asks = [](const char* model, int n) {
        auto cpu = some_cpu();
        cpu.model = model;
        const auto st = lower(product(n), cpu).steps.at(0);
        const auto tiles = tile_candidates(st, cpu);
        return std::ranges::any_of(tiles, [](const batched_tile& t) { return t.stages > 0; });
    };
    for (const int n : {10, 16, 24}) CHECK(asks("Intel Xeon", n));
    for (const int n : {10, 16, 24}) CHECK_FALSE(asks("AMD EPYC", n));
    CHECK(asks("AMD EPYC", 28));
}

TEST_CASE("keys: what the kernel's speed depends on is in them, the batch's extent and the long side are not") {
    const char* const text = "C(i,j,e) += A(i,k,e)*B(k,j,e)";
    const auto plain = key(text, "C=f64[6,5,90000] A=f64[6,7,90000] B=f64[7,5,90000]");
    CHECK(plain.sizes == std::array<std::int64_t, 3>{6, 5, 7});
    CHECK(plain.layout == "batched_small f64*f64->f64 in f64 +=, C m, A m, B k");
    CHECK(plain.strides == "C m1 n6 e30, A m1 k6 e42, B k1 n7 e35");
    CHECK(plain == key(text, "C=f64[6,5,90001] A=f64[6,7,90001] B=f64[7,5,90001]"));
    CHECK(plain == key("C(i,j,e) -= 3*A(i,k,e)*B(k,j,e)", "C=f64[6,5,90000] A=f64[6,7,90000] B=f64[7,5,90000]"));
    for (const auto& [other, operands] :
         {std::pair<const char*, const char*>{"C(i,j,e) = A(i,k,e)*B(k,j,e)",
                                              "C=f64[6,5,90000] A=f64[6,7,90000] B=f64[7,5,90000]"},
          {text, "C=f32[6,5,90000] A=f32[6,7,90000] B=f32[7,5,90000]"},
          {text, "C=f64[6,5,90000] A=f32[6,7,90000] B=f32[7,5,90000]"},
          {text, "C=f64[6:1,5:8,90000:40] A=f64[6,7,90000] B=f64[7,5,90000]"},
          {text, "C=f64[6,5,90000] A=f64[6,7,90000:44] B=f64[7,5,90000]"},
          {"C(i,j,e) += A(k,i,e)*B(k,j,e)", "C=f64[6,5,90000] A=f64[7,6,90000] B=f64[7,5,90000]"},
          {"C(i,j,e) += A(i,k,e)*B(k,j)", "C=f64[6,5,90000] A=f64[6,7,90000] B=f64[7,5]"},
          {"C(i,j,e,f) += A(i,k,e,f)*B(k,j,e)", "C=f64[6,5,300,300] A=f64[6,7,300,300] B=f64[7,5,300]"}})
        CHECK_FALSE(plain.layout + plain.strides == key(other, operands).layout + key(other, operands).strides);
    CHECK(key("C(i,j,e) += conj(A(i,k,e))*B(k,j,e)", "C=c64[6,5,90000] A=c64[6,7,90000] B=c64[7,5,90000]").layout ==
          "batched_small c64*c64->c64 in c64 +=, C m, A m conj, B k");

    const auto lanes = key("C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f64[90000,6,5] A=f64[90000,6,7] B=f64[90000,7,5]");
    CHECK(lanes.layout.starts_with("batched_lanes "));
    CHECK(lanes == key("C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f64[90010,6,5] A=f64[90010,6,7] B=f64[90010,7,5]"));
    const auto odd = key("C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f64[90011,6,5] A=f64[90011,6,7] B=f64[90011,7,5]");
    CHECK(odd == key("C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f64[90013,6,5] A=f64[90013,6,7] B=f64[90013,7,5]"));
    CHECK_FALSE(odd.layout == lanes.layout); // other kernels
    const auto atb = key("C(i,j) = A(k,i)*B(k,j)", "C=f64[6,5] A=f64[9000000,6] B=f64[9000000,5]");
    CHECK(atb.sizes == std::array<std::int64_t, 3>{6, 5, 0});
    CHECK(atb == key("C(i,j) = A(k,i)*B(k,j)", "C=f64[6,5] A=f64[8000000,6] B=f64[8000000,5]"));
    CHECK_FALSE(atb == key("C(i,j) = A(k,i)*B(k,j)",
                           "C=f64[6,5] A=f64[9000,6] B=f64[9000,5]")); // short ones have a class of their own
    const auto ab = key("C(i,j) = A(i,k)*B(k,j)", "C=f64[9000000,5] A=f64[9000000,7] B=f64[7,5]");
    CHECK(ab.sizes == std::array<std::int64_t, 3>{0, 5, 7});
    CHECK(ab == key("C(i,j) = A(i,k)*B(k,j)", "C=f64[8000000,5] A=f64[8000000,7] B=f64[7,5]"));
}

TEST_CASE("sizes nearby: of what the model cannot tell apart, the candidate most like what measured best there") {
    const auto st = first_step(product(9));
    const auto all = tile_candidates(st, chip);
    const auto seconds = predicted_seconds(st, all, chip);
    const auto least = *std::min_element(seconds.begin(), seconds.end());
    const auto near_best = [&](const auto& wanted) {
        for (std::size_t n = 0; n < all.size(); ++n)
            if (seconds[n] < 1.05 * least && wanted(all[n])) return true;
        return false;
    };
    int met = 0;
    for (const int threads : {64, 128, 256})
        for (const bool rows_first : {false, true}) {
            const auto wanted = [&](const batched_tile& t) {
                return t.core == batched_core::fma && t.threads == threads && t.rows_first == rows_first;
            };
            if (!near_best(wanted)) continue;
            ++met;
            tuning_table measured;
            for (const int n : {8, 10}) {
                const auto at = first_step(product(n));
                const auto tiles = tile_candidates(at, chip);
                const auto predicted = predicted_seconds(at, tiles, chip);
                std::size_t winner = tiles.size();
                for (std::size_t c = 0; c < tiles.size(); ++c)
                    if (wanted(tiles[c]) && (winner == tiles.size() || predicted[c] < predicted[winner])) winner = c;
                REQUIRE(winner < tiles.size());
                measured.put(key_of(at, chip), {tiles[winner], 1e-3});
            }
            for (const bool is_shipped : {false, true}) {
                const auto chosen =
                    first_step(product(9), {is_shipped ? nullptr : &measured, is_shipped ? &measured : nullptr});
                CHECK(chosen.origin == tile_origin::neighbors);
                CHECK(wanted(chosen.batched));
                CHECK(predicted_seconds(chosen, chosen.batched, chip) <= 1.1 * least);
            }
            CHECK(first_step(product(16), {&measured, nullptr}).origin == tile_origin::model); // too far
            CHECK(first_step(product(9, 100000, "C(i,j,e) += A(k,i,e)*B(k,j,e)"), {&measured, nullptr}).origin ==
                  tile_origin::model);
            CHECK(
                first_step(product(9, 100000, "C(i,j,e) += A(i,k,e)*B(k,j,e)", "f32"), {&measured, nullptr}).origin ==
                tile_origin::model);
        }
    CHECK(met > 2);
}

TEST_CASE("near: the nearest first, none further than a factor of sqrt(2)") {
    tuning_table table;
    const auto at = [](std::int64_t n) { return tuning_key{"layout", batch_class::many, {n, n, 8}, ""}; };
    for (const std::int64_t n : {4, 8, 10, 11, 12, 16}) table.put(at(n), {});
    table.put({"another", batch_class::many, {8, 8, 8}, ""}, {});
    const auto near = table.near({"layout", batch_class::few, {9, 9, 8}, ""}, 3);
    REQUIRE(near.size() == 3);
    CHECK(near[0].key->sizes[0] == 10);
    CHECK(near[1].key->sizes[0] == 8);
    CHECK(near[2].key->sizes[0] == 11);
    CHECK(near[0].distance == Approx(std::log2(10.0 / 9)));
    CHECK(table.near(at(32), 3).empty());
    CHECK(table.near({"layout", batch_class::many, {9, 9, 0}, ""}, 3).empty());
}

TEST_CASE(
    "the model's tile is a candidate of every family, and costs no more than another that the model tells apart") {
    for (const auto& [text, operands] :
         {std::pair<const char*, const char*>{"C(i,j,e) += A(i,k,e)*B(k,j,e)",
                                              "C=f64[6,5,900] A=f64[6,7,900] B=f64[7,5,900]"},
          {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=f32[900,6,5] A=f32[900,6,7] B=f32[900,7,5]"},
          {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=c128[90,90,900] A=c128[90,90,900] B=c128[90,90,900]"},
          {"C(i,j) = A(k,i)*B(k,j)", "C=f64[6,5] A=f64[9000,6] B=f64[9000,5]"},
          {"C(i,j) = A(i,k)*B(k,j)", "C=f64[9000,5] A=f64[9000,7] B=f64[7,5]"}}) {
        auto without_blas = chip; // it would take what panels are streamed for
        without_blas.has_blas = false;
        const auto st = lower(bound_text(text, operands), without_blas).steps.at(0);
        INFO(text);
        const auto all = tile_candidates(st, chip);
        CHECK(std::find(all.begin(), all.end(), st.batched) != all.end());
        CHECK(st.batched == model_tile(st, chip));
        for (const double s : predicted_seconds(st, all, chip))
            CHECK(s * (1 + as_good) >= predicted_seconds(st, st.batched, chip) * (1 - 1e-8));
    }
    const auto direct = lower(bound_text("C(i) = A(i)", "C=f64[9] A=f64[9]"), chip).steps.at(0);
    CHECK(tile_candidates(direct, chip).empty());
    const auto on_cpu = lower(product(8), some_cpu()).steps.at(0);
    CHECK_FALSE(tile_candidates(on_cpu, some_cpu()).empty());
}
