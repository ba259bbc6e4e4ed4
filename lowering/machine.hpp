// machine: what lowering knows of the chip; comes in as a value, so that a plan can be made for a chip that is not
// there.
#pragma once

#include <cstdint>
#include <string>

namespace ricci::lowering {

enum class target : std::uint8_t { cpu, cuda };

struct machine {
    target kind = target::cpu;
    std::string name;                    ///< for people: "NVIDIA H100 80GB HBM3"
    std::string architecture;            ///< "sm_90"; on a CPU its vector features, "x86-64 avx2 fma avx512f"
    /// of a CPU, for what was measured there: the tables' name for its instructions, "avx512", and the chip's own
    std::string instruction_set, model;
    int processors = 1;                  ///< SMs, or threads used
    std::int64_t shared_bytes = 48 << 10;///< shared memory a block may have; the L1 on a CPU
    std::int64_t l2_bytes = 1 << 20;     ///< of a CPU's core
    std::int64_t l1_way_bytes = 4 << 10; ///< of a CPU: what lies as far apart meets in one set of the L1
    std::int64_t memory_bytes = 0;       ///< of a GPU
    int vector_bytes = 16, vector_registers = 16; ///< of a CPU
    double bandwidth = 20e9;             ///< bytes a second
    double flops_f64 = 30e9;             ///< flop a second
    double flops_f32 = 60e9;
    double launch_seconds = 1e-6;        ///< of an empty kernel
    bool has_blas = false;               ///< a library takes plain GEMM
    bool has_compiler = true;            ///< false: the prebuilt reference kernel runs every step
};

/// What ricci's own tuning tables of such chips are named after; and what is measured on this one is kept under.
inline const std::string& tables_of(const machine& chip) {
    return chip.instruction_set.empty() ? chip.architecture : chip.instruction_set;
}
inline const std::string& model_of(const machine& chip) { return chip.model.empty() ? chip.name : chip.model; }

/// Cycles a second of a GPU's SM, which does 128 multiply-adds of f32 in each.
inline double sm_clock(const machine& chip) { return chip.flops_f32 / (256.0 * chip.processors); }

} // namespace ricci::lowering
