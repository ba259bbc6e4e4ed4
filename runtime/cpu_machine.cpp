// cpu_machine: what lowering is told of a CPU, from its features alone; nothing is measured.
#include "runtime/cpu_machine.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace ricci::runtime {
namespace {

bool has(std::string_view architecture, std::string_view feature) {
    return fmt::format(" {} ", architecture).find(fmt::format(" {} ", feature)) != std::string::npos;
}

/// Bytes of SVE's vectors where they are longer than NEON's, else 0: at equal lengths the kernels' vectors are
/// NEON's.
int sve_bytes(std::string_view architecture) {
    constexpr std::string_view name = " sve";
    int bits = 0;
    for (auto at = architecture.find(name); at != std::string_view::npos; at = architecture.find(name, at + 1)) {
        const auto number = architecture.substr(at + name.size());
        const auto parsed = std::from_chars(number.data(), number.data() + number.size(), bits);
        if (parsed.ec == std::errc() && bits >= 128) break;
        bits = 0; // "sve2"
    }
    // the kernels' vectors are powers of two
    return bits > 128 && (bits & (bits - 1)) == 0 ? bits / 8 : 0;
}

struct vector_unit {
    const char* name; ///< of tuning tables
    int bytes, registers;
    double doubles_a_cycle; ///< flop of f64 by a core
};

vector_unit vectors_of(std::string_view a) {
    if (has(a, "avx512f") && has(a, "avx512vl")) return {"avx512", 64, 32, 32};
    if (has(a, "avx")) {
        const bool fma = has(a, "fma");
        return {fma ? "avx2" : "avx", 32, 16, has(a, "avx512f") ? 32.0 : fma ? 16.0 : 8.0};
    }
    if (const int sve = sve_bytes(a)) return {"sve", sve, 32, 0.5 * sve}; // two multipliers: Neoverse V1, A64FX
    if (has(a, "asimd")) return {"neon", 16, 32, 8};
    if (has(a, "vsx")) return {"vsx", 16, 64, 8};
    return {"baseline", 16, a.starts_with("x86-64") ? 16 : 32, 4};
}

} // namespace

lowering::machine cpu_machine(std::string architecture, int threads) {
    const auto unit = vectors_of(architecture);
    lowering::machine m;
    m.kind = lowering::target::cpu;
    m.architecture = std::move(architecture);
    m.instruction_set = unit.name;
    m.name = fmt::format("CPU, {} thread{}", threads, threads == 1 ? "" : "s");
    m.processors = threads;
    m.shared_bytes = 32 << 10;
    m.vector_bytes = unit.bytes;
    m.vector_registers = unit.registers;
    m.flops_f64 = threads * 2.5e9 * unit.doubles_a_cycle;
    m.flops_f32 = 2 * m.flops_f64;
    m.bandwidth = 12e9 * std::min(threads, 16); // a core's share until the memory controllers are full
    m.launch_seconds = 1e-7;
    return m;
}

std::vector<std::string> code_options(const std::string& architecture) {
    std::vector<std::string> out;
    // Elsewhere than on x86, g++ moves loads up before it gives out registers. The tiles fill all registers, and what
    // no longer fits goes to the stack: twice to three times as much (AArch64, POWER9, g++ 12).
    if (!architecture.starts_with("x86-64")) out.emplace_back("-fno-schedule-insns");
    if (const int bytes = sve_bytes(architecture)) out.push_back(fmt::format("-msve-vector-bits={}", 8 * bytes));
    return out;
}

} // namespace ricci::runtime
