// instruction_mix_test: what objdump prints for each machine is understood.
#include "tests/catch.hpp"
#include "tests/cross/instruction_mix.hpp"

using namespace ricci::tests;

namespace {

instruction_mix mix_of(std::string_view target, const std::string& text) {
    return instruction_mix_of(parse_disassembly(text), cross_target_named(target));
}

} // namespace

TEST_CASE("instructions, names and jumps are found") {
    const auto code = parse_disassembly("kernel.so:     file format elf64-littleaarch64\n\n"
                                        "0000000000000320 <f>:\n"
                                        " 320:\tfmla\tv0.2d, v1.2d, v2.d[0]\n"
                                        " 324:\tb.ne\t320 <f>  // b.any\n"
                                        " 328:\tret\n");
    REQUIRE(code.size() == 3);
    CHECK(code[0].address == 0x320);
    CHECK(code[0].name == "fmla");
    CHECK(code[0].operands == "v0.2d, v1.2d, v2.d[0]");
    CHECK(code[0].target == 0);
    CHECK(code[1].target == 0x320);
    CHECK(code[2].operands.empty());
}

TEST_CASE("multiplies of each machine") {
    struct line {
        std::string_view target;
        const char* text;
        int vector, scalar, stack;
    };
    constexpr line lines[] = {
        {"neon", "fmla\tv0.2d, v1.2d, v2.d[0]", 1, 0, 0},  {"neon", "fmul\tv0.4s, v1.4s, v2.4s", 0, 0, 0},
        {"neon", "fmadd\td0, d1, d2, d3", 0, 1, 0},        {"neon", "fmla\td0, d1, v2.d[0]", 0, 1, 0},
        {"neon", "ldr\tq0, [sp, #16]", 0, 0, 1},           {"neon", "ldr\tx0, [sp, #16]", 0, 0, 0},
        {"neon", "mul\tx0, x1, x2", 0, 0, 0},              {"sve256", "fmla\tz0.d, p0/m, z1.d, z2.d", 1, 0, 0},
        {"sve256", "st1d\t{z0.d}, p0, [sp, #1, mul vl]", 0, 0, 1},
        {"vsx", "xvmaddadp vs0,vs1,vs2", 1, 0, 0},         {"vsx", "xvmulsp vs0,vs1,vs2", 0, 0, 0},
        {"vsx", "xsmaddadp vs0,vs1,vs2", 0, 1, 0},         {"vsx", "fmadds  f0,f1,f2,f3", 0, 1, 0},
        {"vsx", "lxv     vs0,32(r1)", 0, 0, 1},            {"vsx", "lxv     vs0,32(r3)", 0, 0, 0},
        {"avx2", "vfmadd231pd %ymm0,%ymm1,%ymm2", 1, 0, 0},{"avx2", "vfnmadd213ss %xmm0,%xmm1,%xmm2", 0, 1, 0},
        {"avx2", "vmovapd %ymm0,0x20(%rsp)", 0, 0, 1},     {"avx2", "vpmulld %ymm0,%ymm1,%ymm2", 0, 0, 0},
        {"sse4", "mulpd  %xmm0,%xmm1", 1, 0, 0},           {"sse4", "mulsd  %xmm0,%xmm1", 0, 1, 0},
    };
    for (const auto& l : lines) {
        INFO(l.target << ": " << l.text);
        const auto mix = mix_of(l.target, std::string(" 10:\t") + l.text + "\n");
        CHECK(mix.vector_multiplies == l.vector);
        CHECK(mix.scalar_multiplies == l.scalar);
        CHECK(mix.stack_moves == l.stack);
    }
}

TEST_CASE("the innermost loop that multiplies") {
    const auto code = parse_disassembly("  0:\tmulsd  %xmm0,%xmm1\n"
                                        "  4:\tmov    %rax,%rbx\n"
                                        "  8:\tmulpd  %xmm0,%xmm1\n"
                                        "  c:\tjne    8 <f+0x8>\n"
                                        " 10:\tmulsd  %xmm0,%xmm1\n"
                                        " 14:\tjmp    4 <f+0x4>\n"
                                        " 18:\tadd    %rax,%rbx\n"
                                        " 1c:\tjne    18 <f+0x18>\n");
    const auto target = cross_target_named("sse4");
    CHECK(instruction_mix_of(code, target).scalar_multiplies == 2);
    const auto inner = densest_loop_mix_of(code, target);
    CHECK(inner.scalar_multiplies == 0);
    CHECK(inner.vector_multiplies == 1);
    CHECK(share_of_vectors(inner) == 1);
}
