// shared_memory_test: no kernel asks for more shared memory than a block of the chip may have.
#include "lowering/batched_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/lower.hpp"
#include "lowering/tall_skinny_ab_layout.hpp"
#include "lowering/tall_skinny_atb_layout.hpp"
#include "lowering/tile_candidates.hpp"
#include "runtime/executable.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace ricci;
using namespace ricci::lowering;

namespace {

/// Of compute capabilities 9.0, 8.0, and 8.6, 8.9 and 12.0.
constexpr std::int64_t sizes[] = {227 << 10, 163 << 10, 99 << 10};

void check(const machine& chip, const std::string& statement, const std::string& operands) {
    const auto p = lower(tests::bound_text(statement, operands), chip);
    INFO(statement << " with " << operands << ", " << chip.shared_bytes << " bytes");
    for (const auto& request : runtime::executable::requests(p, chip))
        CHECK(request.shape.shared_bytes <= chip.shared_bytes);
}

} // namespace

TEST_CASE("tall-skinny products of all widths and types fit a block's shared memory", "[sweep]") {
    for (const auto bytes : sizes)
        for (const char* type : {"f64", "f32", "f16", "c64", "c128"})
            for (const int m : {1, 3, 8, 17, 32, 40, 64})
                for (const int n : {1, 5, 8, 24, 33, 64}) {
                    auto chip = tests::some_gpu();
                    chip.shared_bytes = bytes;
                    check(chip, "C(i,j) = A(k,i)*B(k,j)",
                          fmt::format("C={0}[{1},{2}] A={0}[4096,{1}] B={0}[4096,{2}]", type, m, n));
                    check(chip, "C(i,j) = A(i,k)*B(k,j)",
                          fmt::format("C={0}[100000,{2}] A={0}[100000,{1}] B={0}[{1},{2}]", type, m, n));
                }
}

TEST_CASE("candidates of tall-skinny products fit a block's shared memory") {
    for (const auto bytes : sizes)
        for (const char* type : {"f64", "f32", "f16", "c64", "c128"})
            for (const int size : {1, 2, 7, 16, 31, 64}) {
                auto chip = tests::some_gpu();
                chip.shared_bytes = bytes;
                const auto p = lower(tests::bound_text("C(i,j) = A(i,k)*B(k,j)",
                                                       fmt::format("C={0}[99999,{1}] A={0}[99999,{2}] B={0}[{2},{1}]",
                                                                   type, size, size + 1 - size / 64)),
                                     chip);
                const auto& st = p.steps.at(0);
                if (st.kernel != family::tall_skinny_ab) continue;
                const auto candidates = tile_candidates(st, chip);
                INFO(type << ' ' << size);
                CHECK(std::find(candidates.begin(), candidates.end(), st.batched) != candidates.end());
                for (const auto& t : candidates) CHECK(ab_shared_bytes(st, t) <= chip.shared_bytes);
            }
}

TEST_CASE("candidates of batched products fit a block's shared memory") {
    for (const auto bytes : sizes)
        for (const char* type : {"f64", "f32", "f16", "c64", "c128"})
            for (const int size : {2, 3, 7, 16, 31, 40}) {
                auto chip = tests::some_gpu();
                chip.shared_bytes = bytes;
                const auto p =
                    lower(tests::bound_text(
                              "C(i,j,e) += A(i,k,e)*B(k,j,e)",
                              fmt::format("C={0}[{1},{1},9999] A={0}[{1},{1},9999] B={0}[{1},{1},9999]", type, size)),
                          chip);
                const auto& st = p.steps.at(0);
                if (st.kernel != family::batched_small) continue;
                const auto candidates = tile_candidates(st, chip);
                CHECK(candidates.size() > 10);
                std::int64_t most = 0;
                for (const auto& t : candidates)
                    most = std::max(most, batched_shared_bytes(st, batched_layout_of(st), t.products));
                INFO(type << ' ' << size);
                CHECK(most <= chip.shared_bytes);
            }
}

TEST_CASE("candidates of tall-skinny A^T B fit a block's shared memory and threads") {
    for (const auto bytes : sizes)
        for (const char* type : {"f64", "f32", "f16", "c64", "c128"})
            for (const int size : {1, 5, 16, 33, 64}) {
                auto chip = tests::some_gpu();
                chip.shared_bytes = bytes;
                const auto operands = fmt::format("C={0}[{1},{1}] A={0}[100000,{1}] B={0}[100000,{1}]", type, size);
                auto p = lower(tests::bound_text("C(i,j) = A(k,i)*B(k,j)", operands), chip);
                auto& st = p.steps.at(0);
                REQUIRE(st.kernel == family::tall_skinny_atb);
                const auto candidates = tile_candidates(st, chip);
                CHECK_FALSE(candidates.empty());
                for (const auto& t : candidates) {
                    st.batched = t;
                    const auto request = runtime::make_kernel(st, chip);
                    INFO(operands << ", " << bytes << " bytes");
                    CHECK(request.shape.shared_bytes <= chip.shared_bytes);
                    CHECK(request.shape.threads <= 1024);
                    CHECK(atb_workspace_bytes(st, chip) >= request.shape.grid * size * size * size_of(st.compute));
                }
            }
}
