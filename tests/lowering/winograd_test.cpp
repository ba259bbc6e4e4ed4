// winograd_test: which programs are convolutions by minimal filtering, and that whatever parameters such a one may
// have are legal.
#include "lowering/families.hpp"
#include "lowering/known_chips.hpp"
#include "lowering/sm_limits.hpp"
#include "lowering/tile_transform.hpp"
#include "lowering/winograd_layout.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/winograd_layer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace ricci;
using namespace ricci::lowering;

namespace {

/// By F(m, 3), where kernels take long to start: one is better than several.
plan layer(int m, int side, int channels, int filters, machine chip, const char* type = "f32") {
    chip.launch_seconds = 1;
    return tests::winograd_layer(m, 3, side, channels, filters, chip, type);
}

bool is_one_step(const plan& p) { return p.steps.size() == 1 && p.steps[0].kernel == family::winograd; }

} // namespace

TEST_CASE("layers by minimal filtering are one step on chips that have bulk copies") {
    for (const char* name : {"h100", "h200"}) CHECK(is_one_step(layer(4, 56, 64, 64, *known_chip(name))));
    CHECK_FALSE(is_one_step(layer(4, 56, 64, 64, *known_chip("a100"))));
    CHECK_FALSE(is_one_step(layer(4, 56, 64, 64, tests::some_cpu())));
    const auto h100 = *known_chip("h100");
    for (const char* type : {"f32", "f16", "bf16"}) CHECK(is_one_step(layer(2, 30, 16, 48, h100, type)));
    CHECK_FALSE(is_one_step(layer(4, 56, 64, 64, h100, "f64")));
    CHECK_FALSE(is_one_step(layer(7, 56, 64, 64, h100))); // 9 points
    CHECK_FALSE(is_one_step(layer(4, 56, 3, 3, h100)));   // 14 times the products
    CHECK(is_one_step(layer(4, 56, 3, 64, h100)));
    CHECK(is_one_step(layer(4, 56, 64, 3, h100)));
}

TEST_CASE("the step says what the statements say") {
    const auto p = layer(4, 28, 32, 48, *known_chip("h100"));
    REQUIRE(is_one_step(p));
    const auto& st = p.steps[0];
    const winograd_roles at(st);
    CHECK(at.directions == 2);
    CHECK(at.tiles == 3);
    CHECK(st.axes[at.filter()].extent == 48);
    CHECK(st.axes[at.channel()].extent == 32);
    for (std::size_t d = 0; d < 2; ++d) {
        CHECK(st.axes[at.output(d)].extent == 4);
        CHECK(st.axes[at.point(d)].extent == 6);
        CHECK(st.axes[at.input(d)].extent == 6);
    }
    CHECK(st.operands[0].stride[at.output(0)] == 1); // the direction of neighbors first
    CHECK(has_one_input_matrix(st));
    CHECK(st.workspace.bytes >= 4 * 36 * 48 * 32);
    CHECK(winograd_seconds(st, st.batched, *known_chip("h100")) > 0);
}

TEST_CASE("channels' products that are expected to be faster by themselves are a library's, one for each point") {
    const auto h100 = *known_chip("h100");
    const auto p = tests::winograd_layer(4, 3, 28, 512, 512, h100, "f16");
    REQUIRE(p.steps.size() == 3);
    CHECK(p.steps[0].kernel == family::tile_transform);
    CHECK(p.steps[2].kernel == family::tile_transform);
    const auto& product = p.steps[1];
    CHECK(product.kernel == family::library);
    CHECK(extent_of(product, axis_class::batch) == 36);
    CHECK(std::min(extent_of(product, axis_class::m), extent_of(product, axis_class::n)) == 7 * 7 * 8);
    CHECK(std::max(extent_of(product, axis_class::m), extent_of(product, axis_class::n)) == 512);
    CHECK(extent_of(product, axis_class::k) == 512);
    for (const auto& st : {p.steps[0], p.steps[2]}) {
        CHECK(transformed_tiles(st) == 7 * 7 * 512 * 8);
        CHECK(tile_transform_seconds(st, h100) > 0);
    }
    // 6x6 inputs of 4x4 outputs, which overlap: each of an image's numbers is read once.
    const double bytes = 2.0 * (28 * 28 + 36 * 7 * 7) * 512 * 8;
    CHECK(std::abs(tile_transform_cost(p.steps[0], h100).bytes - bytes) < 1);
    CHECK(is_one_step(tests::winograd_layer(4, 3, 224, 64, 64, h100)));
}

TEST_CASE("inputs are loaded by vectors where rows of them are aligned, whole ones inside") {
    const auto vectors_of = [](int m, int side, const char* type = "f32") {
        const auto p = layer(m, side, 16, 16, *known_chip("h100"), type);
        REQUIRE(is_one_step(p));
        const auto v = input_vectors_of(p.steps[0]);
        return std::pair(v.length, v.lead);
    };
    CHECK(vectors_of(4, 56) == std::pair(4, 1));
    CHECK(vectors_of(4, 14) == std::pair(2, 1)); // rows of 56 bytes
    CHECK(vectors_of(6, 56) == std::pair(2, 1)); // tiles of 24
    CHECK(vectors_of(4, 13) == std::pair(1, 0));
    CHECK(vectors_of(3, 56) == std::pair(1, 0));
    CHECK(vectors_of(4, 56, "f16") == std::pair(1, 0));
}

TEST_CASE("whatever a layer's kernel is started with an SM can hold") {
    const auto chip = *known_chip("h100");
    for (const char* type : {"f32", "f16"})
        for (int m = 1; m <= 6; ++m)
            for (const int filters : {8, 48, 64, 200}) {
                const auto p = layer(m, 33, 24, filters, chip, type);
                REQUIRE(is_one_step(p));
                const auto& st = p.steps[0];
                const auto candidates = winograd_candidates(st, chip);
                REQUIRE(std::find(candidates.begin(), candidates.end(), st.batched) != candidates.end());
                for (const auto& t : candidates) {
                    INFO(type << ' ' << m << ' ' << filters << ' ' << t.tile_m << 'x' << t.tile_n << ' '
                              << t.threads);
                    const auto layout = winograd_layout_of(st, t);
                    CHECK(layout.shared_bytes <= chip.shared_bytes);
                    CHECK(t.threads <= 1024);
                    CHECK(t.tile_m % layout.filters_of_pass == 0);
                    CHECK(layout.stage_bytes % 128 == 0);
                    CHECK(layout.consumer_warps >= 1);
                    // What one role gives up the other takes, or less.
                    CHECK(32 * (layout.consumer_warps * layout.consumer_registers + 4 * layout.producer_registers) <=
                          registers_of_an_sm);
                    CHECK(layout.consumer_registers % 8 == 0);
                    CHECK(layout.producer_registers % 8 == 0);
                }
            }
}
