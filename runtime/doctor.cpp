// doctor: what ricci finds on this machine, as plain facts for `ricci doctor`.
#include "runtime/doctor.hpp"

#include "lowering/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/blas.hpp"
#include "runtime/cache_folder.hpp"
#include "runtime/cpu_threads.hpp"
#include "runtime/device.hpp"
#include "runtime/host_compiler.hpp"
#include "runtime/kernel_cache.hpp"

#include <fmt/format.h>
#include <system_error>

namespace ricci::runtime {

namespace {

finding examine_host_compiler() {
    const std::string what = "C++ compiler";
    const std::string advice =
        "install g++ or clang++, or name one in RICCI_CXX; until then CPU statements run on slow "
        "prebuilt kernels";
    host_compiler compiler;
    if (!compiler.found()) return {what, false, compiler.missing(), advice};
    try {
        compiler.compile("extern \"C\" void empty() {}\n", failed_source::removed);
        return {what, true, compiler.path().string(), ""};
    } catch (const error& failure) {
        return {what, false, failure.what(), advice};
    }
}

finding examine_threads() {
    const std::string what = "CPU threads";
    try {
        return {what, true, fmt::format("{}", cpu_threads().count()), ""};
    } catch (const error& failure) {
        return {what, false, failure.what(),
                "correct or unset RICCI_NUM_THREADS; until then no statement runs on the CPU"};
    }
}

finding examine_blas() {
    const std::string what = "BLAS of the CPU";
    if (!has_blas())
        return {what, false, "none in this build",
                "install one, libopenblas-dev for example, and build again; until then large products take longer"};
    return {what, true, "the one that was found when ricci was built", ""};
}

finding examine_cache() {
    const std::string what = "kernel cache";
    const auto folder = cache_directory();
    try {
        if (cache_capacity() == 0) return {what, true, "kept in memory only: RICCI_CACHE_SIZE is 0", ""};
    } catch (const error& failure) {
        return {what, false, failure.what(), "correct or unset RICCI_CACHE_SIZE; until then no statement runs"};
    }
    if (const std::string problem = cache_problem(); !problem.empty())
        return {what, false, fmt::format("{}: {}", folder.empty() ? "no folder" : folder.string(), problem),
                "let RICCI_CACHE_DIR name a folder that is yours alone; until then each process compiles its kernels "
                "anew"};
    std::error_code failure;
    const auto status = std::filesystem::status(folder, failure);
    if (failure || !exists(status)) return {what, true, fmt::format("{}, made on first use", folder.string()), ""};
    const auto entries = list_cache();
    std::uintmax_t bytes = 0;
    for (const cache_entry& entry : entries) bytes += entry.bytes;
    return {what, true,
            fmt::format("{}, mode {:04o}, {} kernel{}, {:.1f} MB", folder.string(),
                        static_cast<unsigned>(status.permissions()), entries.size(), entries.size() == 1 ? "" : "s",
                        1e-6 * static_cast<double>(bytes)),
            ""};
}

finding examine_default_device() {
    finding f{"default device", true, "", ""};
    try {
        const device chosen = default_device();
        f.detail = chosen.name();
        if (chosen.is_cuda() && chosen.code() > cuda_device_count()) {
            f.good = false;
            f.detail += " cannot be used";
            f.advice = "see above, or let RICCI_DEVICE be cpu";
        }
    } catch (const error& failure) {
        f.good = false;
        f.detail = failure.what();
        f.advice = "correct or unset RICCI_DEVICE";
    }
    return f;
}

} // namespace

std::vector<finding> examine() {
    std::vector<finding> all = examine_cuda();
    all.push_back(examine_blas());
    for (finding found : {examine_host_compiler(), examine_threads(), examine_cache(), examine_default_device()}) {
        found.needed = true;
        all.push_back(found);
    }
    return all;
}

} // namespace ricci::runtime
