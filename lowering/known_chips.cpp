// known_chips: machines by name. Figures are NVIDIA's data sheets', 0.9 of the memory's peak as
// runtime/cuda_machine.cpp takes it.
#include "lowering/known_chips.hpp"

namespace ricci::lowering {

std::optional<machine> known_chip(std::string_view name) {
    machine m;
    m.kind = target::cuda;
    m.has_blas = true;
    m.launch_seconds = 2.5e-6;
    if (name == "a100") {
        m.name = "NVIDIA A100-SXM4-80GB", m.architecture = "sm_80";
        m.processors = 108, m.shared_bytes = 163 << 10, m.memory_bytes = 80LL << 30;
        m.bandwidth = 0.9 * 2.04e12, m.flops_f64 = 9.7e12, m.flops_f32 = 19.5e12;
    } else if (name == "h100" || name == "h200") {
        m.name = name == "h100" ? "NVIDIA H100 80GB HBM3" : "NVIDIA H200", m.architecture = "sm_90";
        m.processors = 132, m.shared_bytes = 227 << 10;
        m.memory_bytes = (name == "h100" ? 80LL : 141LL) << 30;
        m.bandwidth = 0.9 * (name == "h100" ? 3.35e12 : 4.8e12), m.flops_f64 = 33.5e12, m.flops_f32 = 66.9e12;
    } else {
        return std::nullopt;
    }
    return m;
}

} // namespace ricci::lowering
