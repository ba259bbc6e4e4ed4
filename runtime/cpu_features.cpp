// cpu_features: what this CPU can do, as text for people and for the cache's key.
#include "runtime/cpu_features.hpp"

#include "runtime/sha256.hpp"

#include <fmt/format.h>
#include <fstream>
#include <string_view>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#if defined(__powerpc64__)
#include <asm/cputable.h>
#endif

namespace ricci::runtime {

namespace {

/// The first line of /proc/cpuinfo that lists features; empty where there is none.
std::string cpuinfo_features() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        for (const std::string_view field : {"flags", "Features", "cpu\t", "isa"})
            if (std::string_view(line).starts_with(field)) return line + ' ';
    return {};
}

/// Vector features that /proc/cpuinfo does not name, each behind a blank.
std::string further_features() {
#if defined(__aarch64__)
    // the length that the kernel lets this process have, perhaps less than the CPU's
    if (const int length = prctl(PR_SVE_GET_VL); length > 0)
        return fmt::format(" sve{}", 8 * (length & PR_SVE_VL_LEN_MASK));
#elif defined(__powerpc64__)
    if (getauxval(AT_HWCAP) & PPC_FEATURE_HAS_VSX) return " vsx";
#endif
    return {};
}

} // namespace

std::string cpu_vector_features() {
    const std::string features = cpuinfo_features();
    utsname system{};
    uname(&system);
    const std::string_view machine = system.machine;
    std::string text(machine == "x86_64" ? "x86-64" : machine);
    for (const std::string_view name : {"sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512dq", "avx512vl",
                                        "avx512_bf16", "avx512_fp16", "asimd", "asimdhp", "sve2", "bf16"})
        if (features.find(fmt::format(" {} ", name)) != std::string::npos) text.append(" ").append(name);
    return text + further_features();
}

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        for (const std::string_view field : {"model name", "cpu\t"})
            if (std::string_view(line).starts_with(field))
                if (const auto colon = line.find(": "); colon != line.npos) return line.substr(colon + 2);
    return "CPU";
}

std::string cpu_feature_digest() {
    const std::string hardware = fmt::format("{:x} {:x}", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
    return sha256({cpuinfo_features(), hardware});
}

} // namespace ricci::runtime
