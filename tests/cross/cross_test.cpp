// cross_test: kernels for one other machine, RICCI_CROSS_TARGET in the environment: right by the oracle, and made of
// that machine's vector instructions.
#include "runtime/backend.hpp"
#include "runtime/executable.hpp"
#include "runtime/half.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/prelude.hpp"
#include "tests/catch.hpp"
#include "tests/cross/cross_backend.hpp"
#include "tests/cross/cross_cases.hpp"
#include "tests/cross/instruction_mix.hpp"
#include "tests/skip.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>

using namespace ricci;
using namespace ricci::tests;

namespace {

const std::string& target_name() {
    static const std::string name = [] {
        const char* const asked = std::getenv("RICCI_CROSS_TARGET");
        return std::string(asked ? asked : "sse4");
    }();
    return name;
}

/// The target, its backend started.
const cross_target& target_under_test() {
    static const cross_target target = [] {
        auto t = cross_target_named(target_name());
        const auto missing = t.missing();
        test::skip_unless(missing.empty(), missing);
        register_cross_backend(t);
        return t;
    }();
    return target;
}

std::string described(const cross_case& c) {
    return fmt::format("{} with {}{}", c.what.statement, c.what.operands, c.dynamic ? ", extents as arguments" : "");
}

} // namespace

TEST_CASE("kernels of another machine agree with the oracle") {
    target_under_test();
    const device where(cross_device);
    const auto& chip = runtime::backend_of(where).machine();
    std::uint64_t seed = 0;
    for (const auto& c : cross_cases()) {
        auto made = make_case(c.what, ++seed);
        INFO(target_name() << ": " << described(c));
        const auto report = run_and_compare(made, cross_device, [&](const lowering::statement& s) {
            const auto plan = cross_plan(c, s, chip);
            CHECK(static_cast<int>(plan.chains.size()) == c.chained);
            runtime::executable(where, plan).launch(s);
        });
        INFO(report);
        CHECK(report.empty());
    }
}

TEST_CASE("numbers of 2 bytes are converted as the library does it") {
    target_under_test();
    auto& backend = runtime::backend_of(device(cross_device));
    runtime::prelude constants;
    constants.constant("simd_bytes", backend.machine().vector_bytes);
    const auto source = runtime::complete_source(constants.text(), "simd_halves.hpp") + R"(
template <class T, int lanes, int Count>
void convert(const T* narrow, const float* wide, float* widened, T* narrowed, int blocks) {
    for (int b = 0; b < blocks; ++b) {
        store_whole<float, lanes>(widened + b * lanes, load_widened<lanes, Count>(narrow + b * lanes));
        store_narrowed<lanes, Count>(narrowed + b * lanes, load_whole<float, lanes>(wide + b * lanes));
    }
}
struct arguments { const void* narrow; const float* wide; float* widened; void* narrowed; long long blocks, lanes, is_half; };
extern "C" void conversions(const void* words, long long, long long) {
    const auto& a = *static_cast<const arguments*>(words);
    const int blocks = static_cast<int>(a.blocks);
    const auto run = [&]<class T>(const T* narrow, T* to, auto count) {
        constexpr int lanes = count, part = lanes - 1;
        convert<T, lanes, lanes>(narrow, a.wide, a.widened, to, blocks / 2);
        const int done = blocks / 2 * lanes;
        convert<T, lanes, part>(narrow + done, a.wide + done, a.widened + done, to + done, blocks - blocks / 2);
    };
    const auto run_lanes = [&](auto count) {
        if (a.lanes != count) return;
        if (a.is_half) run(static_cast<const half*>(a.narrow), static_cast<half*>(a.narrowed), count);
        else run(static_cast<const bfloat16*>(a.narrow), static_cast<bfloat16*>(a.narrowed), count);
    };
    run_lanes(constant<2>());
    run_lanes(constant<4>());
    if constexpr (simd_lanes<float> >= 8) run_lanes(constant<8>());
    if constexpr (simd_lanes<float> >= 16) run_lanes(constant<16>());
})";
    const auto kernel = runtime::cached_kernel(backend, source, "conversions");
    const std::size_t count = std::size_t{1} << 16,
                      widest = static_cast<std::size_t>(backend.machine().vector_bytes) / 4;
    auto* const narrow = static_cast<std::uint16_t*>(backend.allocate(2 * count));
    auto* const narrowed = static_cast<std::uint16_t*>(backend.allocate(2 * count));
    auto* const wide = static_cast<float*>(backend.allocate(4 * count));
    auto* const widened = static_cast<float*>(backend.allocate(4 * count));
    const auto check = [&]<class T>(T, std::size_t lanes) {
        CAPTURE(lanes);
        std::mt19937 random(1);
        for (std::size_t n = 0; n < count; ++n) {
            // between all numbers of 2 bytes: half way, a little more and less, and anywhere; any bits at all
            narrow[n] = static_cast<std::uint16_t>(n);
            const auto here = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<T>(narrow[n])));
            const std::uint32_t step = std::is_same_v<T, half> ? 0x1000 : 0x8000;
            const auto way = static_cast<std::uint32_t>(n % 5), any = static_cast<std::uint32_t>(random());
            wide[n] = std::bit_cast<float>(way == 4 ? any : here + (way == 3 ? any % step : step + way - 1));
        }
        const std::array<std::uint64_t, 7> words{reinterpret_cast<std::uint64_t>(narrow),
                                                 reinterpret_cast<std::uint64_t>(wide),
                                                 reinterpret_cast<std::uint64_t>(widened),
                                                 reinterpret_cast<std::uint64_t>(narrowed),
                                                 count / lanes,
                                                 lanes,
                                                 std::is_same_v<T, half>};
        backend.launch(kernel, {}, words);
        int wrong = 0;
        const auto same = [](float a, float b) {
            return a != a ? b != b : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
        };
        for (std::size_t n = 0; n < count; ++n) {
            const bool left_out = n >= count / 2 && n % lanes == lanes - 1; // of a part: 0, and not written
            const float value = left_out ? 0 : static_cast<float>(std::bit_cast<T>(narrow[n]));
            const bool right =
                same(widened[n], value) &&
                (left_out || same(static_cast<float>(std::bit_cast<T>(narrowed[n])), static_cast<float>(T(wide[n]))));
            if (right || wrong++ > 3) continue;
            UNSCOPED_INFO(fmt::format("{:#x} widened to {}; {} narrowed to {:#x}", narrow[n], widened[n], wide[n],
                                      narrowed[n]));
        }
        CHECK(wrong == 0);
    };
    for (std::size_t lanes = 2; lanes <= widest; lanes *= 2) {
        check(half(), lanes);
        check(bfloat16(), lanes);
    }
    for (void* memory : {static_cast<void*>(narrow), static_cast<void*>(narrowed), static_cast<void*>(wide),
                         static_cast<void*>(widened)})
        backend.release(memory);
}

TEST_CASE("kernels for products multiply by vectors") {
    const auto& target = target_under_test();
    auto& backend = runtime::backend_of(device(cross_device));
    const bool all = std::getenv("RICCI_TEST_SHOW") != nullptr;
    // Clang multiplies a vector's single lane (17 rows, at lanes of 8) as a number
    const double least_share = target.compiler == "clang++" ? 0.5 : 0.95;
    std::uint64_t seed = 0;
    for (const auto& c : cross_cases()) {
        const auto made = make_case(c.what, ++seed);
        if (!c.has_vector_loops && !all) continue;
        const auto plan = cross_plan(c, made.s, backend.machine());
        for (const auto& request : runtime::executable::requests(plan, backend.machine()))
            for (const auto* kernel : runtime::kernels_of(request)) {
                const auto* loaded =
                    static_cast<const cross_kernel*>(runtime::cached_kernel(backend, kernel->source, kernel->entry));
                const auto text = disassemble(target.objdump(), loaded->object);
                const auto whole = instruction_mix_of(text.code, target);
                const auto densest = densest_loop_mix_of(text.code, target);
                const auto said =
                    fmt::format("{}: {}, {}: {}; in its densest loop {}; it calls {}", target_name(), described(c),
                                kernel->entry, to_text(whole), to_text(densest), fmt::join(text.undefined, " "));
                if (all) fmt::print("{}\n", said);
                // tall_skinny_ab has what rows are left over of others' tiles
                if (!c.has_vector_loops || kernel->entry == "ricci_direct" || kernel->entry == "ricci_tall_skinny_ab")
                    continue;
                INFO(said);
                CHECK(share_of_vectors(whole) >= least_share);
                CHECK(share_of_vectors(densest) >= least_share);
                // clang++ 14 unrolls the sum whole and keeps vectors on the stack where 16 registers are too few
                if (target.fuses() && target.compiler != "clang++")
                    CHECK(densest.stack_moves <= densest.vector_multiplies);
                for (const auto& name : text.undefined) // of a chunk's sums; where a chain's block has its memory
                    CHECK((name == "memset" || name.starts_with("__tls_get_addr")));
            }
    }
}
