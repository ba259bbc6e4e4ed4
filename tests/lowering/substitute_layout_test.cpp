// substitute_layout_test: parameters that kernels of solves with factors may have, their order, and what they are
// expected to take.
#include "lowering/factor_layout.hpp"
#include "lowering/lower.hpp"
#include "lowering/substitute_layout.hpp"
#include "lowering/tile_candidates.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace ricci::lowering;
using namespace ricci::tests;

namespace {

const machine chip = some_gpu();

step solve(int m, int n, int r, int batch, const char* type = "f64", bool interleaved = false, bool qr = false) {
    const auto access = [&](const char* name, const char* axes) {
        return interleaved ? fmt::format("{}(e,{})", name, axes) : fmt::format("{}({},e)", name, axes);
    };
    const auto operand = [&](const char* name, const char* of, const std::string& extents) {
        return interleaved ? fmt::format("{}={}[{},{}] ", name, of, batch, extents)
                           : fmt::format("{}={}[{},{}] ", name, of, extents, batch);
    };
    const auto text = fmt::format("{} = {}({}, i, j, {}, {})", access("X", "j,r"), qr ? "qr_solve" : "lu_solve",
                                  access("A", "i,j"), access("p", "k"), access("B", "i,r"));
    const auto operands =
        operand("A", type, fmt::format("{},{}", m, n)) + operand("p", qr ? type : "i32", fmt::format("{}", n)) +
        operand("B", type, fmt::format("{},{}", m, r)) + operand("X", type, fmt::format("{},{}", n, r));
    return lower(bound_text(text, operands), chip, {}).steps.at(0);
}

bool is_by_a_thread(const batched_tile& t) { return t.tile_m == 1 && !t.boxed; }

} // namespace

TEST_CASE("solves with factors have candidates that fit, each once, at finite times, of any shape and batch") {
    for (const auto& [m, n] :
         {std::pair{1, 1}, {2, 2}, {7, 7}, {8, 8}, {33, 33}, {64, 64}, {96, 96}, {130, 130}, {300, 5}})
        for (const int r : {1, 3, 40})
            for (const int batch : {1, 100, 5000, 1000000 / (m * n)})
                for (const char* type : {"f32", "f64", "c128"})
                    for (const bool interleaved : {false, true}) {
                        const auto st = solve(m, n, r, batch, type, interleaved, m != n);
                        INFO(m << "x" << n << ", " << r << " sides, " << batch << " matrices, " << type
                               << (interleaved ? ", interleaved" : ""));
                        const auto all = substitute_candidates(st, chip);
                        REQUIRE_FALSE(all.empty());
                        std::set<std::string> seen;
                        for (const auto& t : all) {
                            const auto name = fmt::format("{} {} {} {} {} {}", t.products, t.threads, t.tile_m,
                                                          t.tile_n, t.stages, t.boxed);
                            INFO(name);
                            CHECK(seen.insert(name).second);
                            CHECK(substitute_shared_bytes(st, t, chip) <= chip.shared_bytes);
                            CHECK((t.threads % 32 == 0 && t.threads <= 256 && t.products >= 1 && t.tile_n >= 1));
                            const auto seconds = substitute_seconds(st, t, chip);
                            CHECK((std::isfinite(seconds) && seconds > 0));
                        }
                    }
}

TEST_CASE("an empty batch is expected to take no time") {
    const auto st = solve(8, 8, 1, 0);
    for (const auto& t : substitute_candidates(st, chip)) CHECK(substitute_seconds(st, t, chip) == 0);
}

TEST_CASE("another batch that fills the chip needs no other kernel, and a small one takes a block's time at least") {
    for (const int n : {2, 3, 8, 17, 32, 80}) {
        CHECK(substitute_candidates(solve(n, n, 1, 5000), chip) ==
              substitute_candidates(solve(n, n, 1, 100000), chip));
        const auto one = solve(n, n, 1, 1), few = solve(n, n, 1, chip.processors);
        for (const auto& t : substitute_candidates(few, chip))
            if (t.products == 1) {
                const auto ratio = substitute_seconds(one, t, chip) / substitute_seconds(few, t, chip);
                CHECK((ratio > 0.5 && ratio <= 1));
            }
    }
}

TEST_CASE("a thread a matrix is first where the batch is the fastest index, unless there are many sides") {
    for (const int n : {4, 8, 16, 32}) {
        CHECK(is_by_a_thread(substitute_candidates(solve(n, n, 1, 20000, "f64", true), chip).front()));
        CHECK(is_by_a_thread(substitute_candidates(solve(n, n, 4, 20000, "f64", true), chip).front()));
        const auto many = substitute_candidates(solve(n, n, 16, 20000, "f64", true), chip);
        CHECK_FALSE(is_by_a_thread(many.front()));
        CHECK(std::any_of(many.begin(), many.end(), is_by_a_thread));
        const auto apart = substitute_candidates(solve(n, n, 1, 20000), chip);
        CHECK(std::none_of(apart.begin(), apart.end(), is_by_a_thread));
    }
}

TEST_CASE("blocks have more threads where few of them have the chip to themselves") {
    const auto threads = [](int batch) {
        return substitute_candidates(solve(600, 20, 1, batch, "f64", false, true), chip).front().threads;
    };
    CHECK(threads(100) > threads(5000));
}
