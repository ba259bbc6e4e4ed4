// cpu_machine_test: what lowering is told of CPUs, this one and others.
#include "runtime/backend.hpp"
#include "runtime/cpu_features.hpp"
#include "runtime/cpu_machine.hpp"
#include "runtime/host_compiler.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <string>
#include <vector>

using namespace ricci;
using namespace ricci::runtime;
using ricci::test::contains;

TEST_CASE("vectors and registers of an architecture") {
    struct known {
        const char* architecture;
        int bytes, registers;
        double doubles_a_cycle;
    };
    constexpr known machines[] = {
        {"x86-64", 16, 16, 4},
        {"x86-64 sse4_2", 16, 16, 4},
        {"x86-64 sse4_2 avx", 32, 16, 8},
        {"x86-64 sse4_2 avx avx2 fma f16c", 32, 16, 16},
        {"x86-64 sse4_2 avx avx2 fma avx512f", 32, 16, 32}, // Xeon Phi: no narrower vectors with masks
        {"x86-64 sse4_2 avx avx2 fma avx512f avx512dq avx512vl", 64, 32, 32},
        {"aarch64 asimd", 16, 32, 8},
        {"aarch64 asimd asimdhp sve2 bf16 sve128", 16, 32, 8}, // as long as NEON's
        {"aarch64 asimd asimdhp sve256", 32, 32, 16},
        {"aarch64 asimd sve512 ", 64, 32, 32},
        {"aarch64 asimd sve384", 16, 32, 8}, // no power of two
        {"ppc64le vsx", 16, 64, 8},
        {"ppc64le", 16, 32, 4},
        {"riscv64", 16, 32, 4},
    };
    for (const auto& k : machines) {
        CAPTURE(k.architecture);
        const auto m = cpu_machine(k.architecture, 3);
        CHECK(m.kind == lowering::target::cpu);
        CHECK(m.architecture == k.architecture);
        CHECK(m.processors == 3);
        CHECK(m.vector_bytes == k.bytes);
        CHECK(m.vector_registers == k.registers);
        CHECK(m.flops_f64 == 3 * 2.5e9 * k.doubles_a_cycle);
        CHECK(m.flops_f32 == 2 * m.flops_f64);
    }
}

TEST_CASE("the compiler hears of an architecture what -march does not say") {
    using words = std::vector<std::string>;
    CHECK(code_options("x86-64 avx avx2 fma").empty());
    CHECK(code_options("ppc64le vsx") == words{"-fno-schedule-insns"});
    CHECK(code_options("aarch64 asimd sve128") == words{"-fno-schedule-insns"});
    CHECK(code_options("aarch64 asimd sve2 sve256") == words{"-fno-schedule-insns", "-msve-vector-bits=256"});
}

TEST_CASE("this CPU") {
    const auto& m = backend_of(cpu()).machine();
    CHECK(m.architecture == cpu_vector_features());
    CHECK(m.vector_bytes == cpu_machine(m.architecture, 1).vector_bytes);
#if defined(__aarch64__)
    CHECK(contains(m.architecture, "aarch64 asimd"));
#elif defined(__x86_64__)
    CHECK(m.architecture.starts_with("x86-64"));
#endif
#if defined(__AVX__)
    CHECK(m.vector_bytes >= 32);
#endif
}

TEST_CASE("a compiler for a machine that is described") {
    const host_compiler none("no-such-compiler", {"-march=x"});
    CHECK_FALSE(none.found());
    CHECK(contains(none.missing(), "no-such-compiler"));
    host_compiler here("c++", {"-O0", "-DVALUE=7"});
    REQUIRE(here.found());
    CHECK(contains(here.options(), "-DVALUE=7"));
    CHECK(here.options() != host_compiler("c++", {"-O0", "-DVALUE=8"}).options());
    CHECK_FALSE(here.compile("extern \"C\" int f() { return VALUE; }\n").empty());
}
