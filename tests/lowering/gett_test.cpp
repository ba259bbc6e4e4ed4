// gett_test: which products a GPU's kernel for those of any axes takes, and by which blocks; how long plans are
// expected to take.
#include "lowering/expected_seconds.hpp"
#include "lowering/gett_blocks.hpp"
#include "lowering/gett_product.hpp"
#include "lowering/lower.hpp"
#include "runtime/kernel_source.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/winograd_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

using namespace ricci::lowering;
using ricci::tests::bound_text, ricci::tests::some_cpu, ricci::tests::some_gpu;

namespace {

/// A direct layer of 3 x 3 filters.
statement layer(int side, int channels, int filters, int pictures, const char* type = "f32") {
    return bound_text("O(x,y,k,b) = padded(D)(x+s-1,y+r-1,c,b)*F(s,r,c,k)",
                      fmt::format("O={0}[{1},{1},{3},{4}] D={0}[{1},{1},{2},{4}] F={0}[3,3,{2},{3}]", type, side,
                                  channels, filters, pictures));
}

family kernel_of(const statement& s) { return lower(s, some_gpu()).steps.back().kernel; }

} // namespace

TEST_CASE("a GPU's convolutions and products of several axes go by blocks of C, small ones element by element") {
    for (const char* type : {"f32", "f64", "f16", "bf16", "c64", "c128"}) {
        INFO(type);
        CHECK(kernel_of(layer(56, 64, 64, 8, type)) == family::gett);
    }
    CHECK(kernel_of(layer(6, 3, 4, 1)) == family::direct);
    CHECK(kernel_of(bound_text("C(i,a,j,b) = A(i,p,a,q)*B(q,j,p,b)",
                               "C=f64[40,30,50,20] A=f64[40,16,30,24] B=f64[24,50,16,20]")) == family::gett);
    // 3 steps of the sum; an output that is padded; positions that 32 bits do not hold.
    CHECK(kernel_of(bound_text("O(x,k) = padded(D)(x+s-1)*F(s,k)", "O=f32[9000,500] D=f32[9000] F=f32[3,500]")) ==
          family::direct);
    CHECK(kernel_of(bound_text("padded(O)(x+s,k) = D(x,c)*F(c,s,k)",
                               "O=f32[90,500] D=f32[900,300] F=f32[300,1,500]")) != family::gett);
    CHECK(kernel_of(bound_text("O(x,y,k) = padded(D)(90000000*x+s-1,y,c)*F(s,c,k)",
                               "O=f32[9,90,64] D=f32[90,90,300] F=f32[3,300,64]")) == family::direct);
}

TEST_CASE("blocks of a GPU's products of any axes are as the kernel wants them") {
    auto chip = some_gpu();
    for (const char* type : {"f32", "f64", "f16", "c128"})
        for (const auto& s :
             {layer(56, 64, 64, 8, type), layer(14, 512, 512, 1, type), layer(224, 64, 12, 1, type)}) {
            const auto p = lower(s, chip);
            const auto& st = p.steps.back();
            REQUIRE(st.kernel == family::gett);
            const auto all = gett_block_tiles(st, chip);
            CHECK(std::find(all.begin(), all.end(), st.batched) != all.end());
            for (const auto& t : all) {
                CHECK(gett_shared_bytes(st, t) <= chip.shared_bytes);
                CHECK(t.threads % t.products == 0);
                CHECK(t.threads % t.panel == 0);
                CHECK(t.threads % t.k_panel == 0);
                CHECK(gett_block_count(st, t) * t.products * t.panel >= 1);
            }
        }
    // A few kernels serve all batches, and pictures of other sizes.
    const auto source = [&](const statement& s) {
        return ricci::runtime::make_kernel(lower(s, chip).steps.back(), chip).source;
    };
    for (const int side : {14, 56}) {
        std::set<std::string> sources;
        for (const int pictures : {1, 2, 3, 5, 8, 16, 32, 64, 100, 256, 1000})
            sources.insert(source(layer(side, 64, 64, pictures)));
        CHECK(sources.size() <= 3);
    }
    CHECK(source(layer(224, 64, 64, 32)) == source(layer(200, 64, 64, 50)));
}

TEST_CASE("long sums in f32 are made of parts, and f32 on the tensor cores always") {
    const auto apart = [&](const char* types, int steps, math_mode math = math_mode::full) {
        const std::string x(types, 3), y(types + 4, 3);
        auto s = bound_text("C(i,j) = A(i,p,q)*B(q,p,j)",
                            fmt::format("C={0}[512,512] A={0}[512,64,{2}] B={1}[{2},64,512]", x, y, steps / 64));
        s.math = math;
        const auto p = lower(s, some_gpu());
        REQUIRE(p.steps.back().kernel == family::gett);
        return gett_sums_apart(p.steps.back(), p.steps.back().batched);
    };
    CHECK(apart("f32*f32", 640));
    for (const char* types : {"f32*f16", "f16*f16"}) {
        CHECK_FALSE(apart(types, 640));
        CHECK(apart(types, 1 << 20));
    }
    CHECK_FALSE(apart("f32*f32", 640, math_mode::tf32));
    CHECK(apart("f32*f32", 1 << 20, math_mode::tf32));
    CHECK_FALSE(apart("f64*f64", 1 << 20));
}

TEST_CASE("plans are expected to take as long as their models say") {
    auto chip = some_gpu();
    const auto seconds = [&](const plan& p) { return expected_seconds(p, chip); };
    const auto direct = [&](int side, int channels, int pictures) {
        return seconds(lower(layer(side, channels, channels, pictures), chip));
    };
    // In proportion to the pictures, where they fill the chip.
    CHECK(direct(56, 256, 64) > 1.8 * direct(56, 256, 32));
    CHECK(direct(56, 256, 64) < 2.2 * direct(56, 256, 32));
    // As measured on an H100: tiles of 4x4 are the fastest of large layers, those of 2x2 of 512 channels of 7x7
    // pixels rather than they.
    const auto tiles = [&](int m, int side, int channels) {
        return seconds(ricci::tests::winograd_layer(m, 3, side, channels, channels, chip));
    };
    CHECK(tiles(4, 56, 64) < tiles(2, 56, 64));
    CHECK(tiles(4, 56, 64) < tiles(6, 56, 64));
    CHECK(tiles(4, 56, 64) < direct(56, 64, 8));
    CHECK(tiles(2, 7, 512) < tiles(6, 7, 512));

    chip = some_cpu();
    const auto product = [&](int n) {
        return seconds(
            lower(bound_text("C(i,j,e) = A(i,k,e)*B(k,j,e)",
                             fmt::format("C=f64[{0},{0},1000] A=f64[{0},{0},1000] B=f64[{0},{0},1000]", n)),
                  chip));
    };
    CHECK(product(16) > 2 * product(8));
    CHECK(seconds(lower(bound_text("y(i) = 2*x(i)", "y=f64[0] x=f64[0]"), chip)) < 1e-3);
}
