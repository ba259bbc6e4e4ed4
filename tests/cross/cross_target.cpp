// cross_target: machines that kernels are tried for: compiler, emulator, and what lowering is told of them.
#include "tests/cross/cross_target.hpp"

#include "runtime/cpu_features.hpp"
#include "runtime/cpu_machine.hpp"
#include "runtime/host_compiler.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <stdexcept>

namespace ricci::tests {
namespace {

using words = std::vector<std::string>;

const words qemu_aarch64{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu"};
const words qemu_power{"qemu-ppc64le", "-L", "/usr/powerpc64le-linux-gnu", "-cpu", "power9"};
const std::string g_arm = "aarch64-linux-gnu-g++", g_power = "powerpc64le-linux-gnu-g++";
const std::string avx2 = "x86-64 sse4_2 avx avx2 fma f16c", avx512 = avx2 + " avx512f avx512dq avx512vl";
const words avx2_features{"avx2", "fma", "f16c"}, avx512_features{"avx512f", "avx512dq", "avx512vl", "fma"};

words with(words some, std::string more) {
    some.push_back(std::move(more));
    return some;
}

const cross_target targets[] = {
    {"neon", instruction_set::aarch64, g_arm, {"-mcpu=neoverse-n1"}, "aarch64 asimd asimdhp",
     with(qemu_aarch64, "max,sve=off"), {}},
    {"sve256", instruction_set::aarch64, g_arm, {"-mcpu=neoverse-v1"}, "aarch64 asimd asimdhp sve256",
     with(qemu_aarch64, "max,sve256=on"), {}},
    {"sve512", instruction_set::aarch64, g_arm, {"-mcpu=a64fx"}, "aarch64 asimd asimdhp sve512",
     with(qemu_aarch64, "max,sve512=on"), {}},
    {"vsx", instruction_set::powerpc64le, g_power, {"-mcpu=power9"}, "ppc64le vsx", qemu_power, {}},
    {"sse4", instruction_set::x86_64, "g++", {"-march=x86-64-v2"}, "x86-64 sse4_2", {}, {"sse4_2"}},
    {"avx", instruction_set::x86_64, "g++", {"-march=sandybridge"}, "x86-64 sse4_2 avx", {}, {"avx"}},
    {"avx2", instruction_set::x86_64, "g++", {"-march=haswell"}, avx2, {}, avx2_features},
    {"avx512", instruction_set::x86_64, "g++", {"-march=skylake-avx512"}, avx512, {}, avx512_features},
    {"avx512_bf16", instruction_set::x86_64, "g++", {"-march=cooperlake"}, avx512 + " avx512_bf16", {},
     with(avx512_features, "avx512_bf16")},
    {"clang_avx2", instruction_set::x86_64, "clang++", {"-march=haswell"}, avx2, {}, avx2_features},
    {"clang_avx512", instruction_set::x86_64, "clang++", {"-march=skylake-avx512"}, avx512, {},
     avx512_features},
};

const char* prefix_of(instruction_set machine) {
    switch (machine) {
    case instruction_set::aarch64: return "aarch64-linux-gnu-";
    case instruction_set::powerpc64le: return "powerpc64le-linux-gnu-";
    default: return "";
    }
}

bool is_program(const std::string& name) { return runtime::host_compiler(name, {}).found(); }

} // namespace

std::string cross_target::driver() const {
    switch (machine) {
    case instruction_set::aarch64: return RICCI_CROSS_DRIVERS "/cross_driver_aarch64";
    case instruction_set::powerpc64le: return RICCI_CROSS_DRIVERS "/cross_driver_powerpc64le";
    default: return RICCI_CROSS_DRIVERS "/cross_driver_here";
    }
}

std::string cross_target::objdump() const { return std::string(prefix_of(machine)) + "objdump"; }

std::vector<std::string> cross_target::all_options() const {
    auto out = options;
    for (const auto& option : runtime::code_options(architecture)) out.push_back(option);
    return out;
}

// Of four threads, so that long sums come in parts; the driver runs them one after another.
lowering::machine cross_target::chip() const { return runtime::cpu_machine(architecture, 4); }

bool cross_target::fuses() const {
    return machine != instruction_set::x86_64 || architecture.find(" fma") != std::string::npos;
}

std::string cross_target::missing() const {
    for (const auto& program : {compiler, emulator.empty() ? compiler : emulator.front(), objdump()})
        if (!is_program(program)) return "there is no " + program;
    if (!std::filesystem::exists(driver())) return fmt::format("{} was not there when this was configured", compiler);
    const auto here = runtime::cpu_vector_features() + ' ';
    for (const auto& feature : features)
        if (here.find(fmt::format(" {} ", feature)) == std::string::npos) return "this CPU has no " + feature;
    return {};
}

cross_target cross_target_named(std::string_view name) {
    const auto found =
        std::find_if(std::begin(targets), std::end(targets), [&](const auto& t) { return t.name == name; });
    if (found == std::end(targets)) throw std::logic_error(fmt::format("no target {}", name));
    return *found;
}

} // namespace ricci::tests
