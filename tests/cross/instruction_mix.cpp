// instruction_mix: what a kernel multiplies with, by its instructions: vectors or single numbers.
#include "tests/cross/instruction_mix.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace ricci::tests {
namespace {

enum class width { none, scalar, vector };

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
    for (const auto b : beginnings)
        if (text.starts_with(b)) return true;
    return false;
}

bool contains(std::string_view text, std::string_view what) { return text.find(what) != std::string_view::npos; }

/// mulpd, vmulss, vfmadd231pd, vfnmadd213sd ... %zmm1{%k1}
width x86_multiply(const instruction& i, bool fused) {
    std::string_view name = i.name;
    if (name.starts_with('v')) name.remove_prefix(1);
    if (fused ? !starts_with_any(name, {"fmadd", "fmsub", "fnmadd", "fnmsub"}) : !name.starts_with("mul"))
        return width::none;
    if (name.ends_with("sd") || name.ends_with("ss")) return width::scalar;
    return name.ends_with("pd") || name.ends_with("ps") ? width::vector : width::none; // else of integers
}

/// fmla v0.2d, ...; fmla z0.d, p0/m, ...; fmadd d0, ...; fmla d0, d1, v2.d[0]
width arm_multiply(const instruction& i) {
    if (!starts_with_any(i.name, {"fmla", "fmls", "fmad", "fmsb", "fnmla", "fnmls", "fnmad", "fnmsb", "fmsub",
                                  "fnmsub", "fmadd", "fnmadd"}))
        return width::none;
    return i.operands.starts_with('z') || i.operands.starts_with('v') ? width::vector : width::scalar;
}

/// xvmaddadp; xsmaddmdp, fmadds
width power_multiply(const instruction& i) {
    if (starts_with_any(i.name, {"xvmadd", "xvmsub", "xvnmadd", "xvnmsub", "vmaddfp", "vnmsubfp"}))
        return width::vector;
    if (starts_with_any(i.name, {"xsmadd", "xsmsub", "xsnmadd", "xsnmsub", "fmadd", "fmsub", "fnmadd",
                                 "fnmsub"}))
        return width::scalar;
    return width::none;
}

width multiply_of(const instruction& i, const cross_target& target) {
    switch (target.machine) {
    case instruction_set::aarch64: return arm_multiply(i);
    case instruction_set::powerpc64le: return power_multiply(i);
    default: return x86_multiply(i, target.fuses());
    }
}

/// Moves of whole vectors between a register and the stack.
bool is_stack_move(const instruction& i, instruction_set machine) {
    switch (machine) {
    case instruction_set::aarch64:
        return contains(i.operands, "[sp") && starts_with_any(i.operands, {"q", "z", "{z"}) &&
               starts_with_any(i.name, {"ld", "st"});
    case instruction_set::powerpc64le:
        return starts_with_any(i.name, {"lxv", "stxv"}) && contains(i.operands, "(r1)");
    default:
        return contains(i.name, "mov") && (contains(i.operands, "(%rsp)") || contains(i.operands, "(%rbp)")) &&
               (contains(i.operands, "%xmm") || contains(i.operands, "%ymm") || contains(i.operands, "%zmm"));
    }
}

struct loop {
    std::uint64_t first = 0, last = 0; ///< addresses
};

/// Those that hold no other. Jumps back into the middle of an outer loop look like them.
std::vector<loop> innermost_loops(std::span<const instruction> code) {
    std::vector<loop> all, out;
    for (const auto& i : code)
        if (i.target != 0 && i.target <= i.address && i.target >= code.front().address)
            all.push_back({i.target, i.address});
    for (const auto& l : all)
        if (std::none_of(all.begin(), all.end(), [&](const loop& other) {
                return l.first <= other.first && other.last <= l.last &&
                       (other.first != l.first || other.last != l.last);
            }))
            out.push_back(l);
    return out;
}

} // namespace

instruction_mix instruction_mix_of(std::span<const instruction> code, const cross_target& target) {
    instruction_mix out;
    for (const auto& i : code) {
        const auto multiply = multiply_of(i, target);
        out.vector_multiplies += multiply == width::vector;
        out.scalar_multiplies += multiply == width::scalar;
        out.stack_moves += is_stack_move(i, target.machine);
    }
    return out;
}

instruction_mix densest_loop_mix_of(std::span<const instruction> code, const cross_target& target) {
    instruction_mix out;
    double density = 0;
    for (const auto& l : innermost_loops(code)) {
        const auto at = [&](std::uint64_t address) {
            return std::lower_bound(code.begin(), code.end(), address,
                                    [](const instruction& i, std::uint64_t a) { return i.address < a; });
        };
        const std::span<const instruction> body(at(l.first), at(l.last) + 1);
        const auto mix = instruction_mix_of(body, target);
        const double multiplies = mix.vector_multiplies + mix.scalar_multiplies;
        if (multiplies <= density * static_cast<double>(body.size())) continue;
        density = multiplies / static_cast<double>(body.size());
        out = mix;
    }
    return density > 0 ? out : instruction_mix_of(code, target);
}

double share_of_vectors(const instruction_mix& mix) {
    const int all = mix.vector_multiplies + mix.scalar_multiplies;
    return all == 0 ? 1 : static_cast<double>(mix.vector_multiplies) / all;
}

std::string to_text(const instruction_mix& mix) {
    return fmt::format("{} multiplies by vectors, {} by single numbers, {} moves of vectors to and from the stack",
                       mix.vector_multiplies, mix.scalar_multiplies, mix.stack_moves);
}

} // namespace ricci::tests
