// cuda_doctor: what ricci finds of driver, GPUs, NVRTC and cuBLAS.
#include "lowering/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/cuda_check.hpp"
#include "runtime/cuda_library.hpp"
#include "runtime/cuda_machine.hpp"
#include "runtime/doctor.hpp"
#include "runtime/nvrtc_compiler.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace ricci::runtime {

namespace {

constexpr int stand_in_capability =
    80; ///< to try NVRTC with where there is no GPU; every NVRTC from 11 to 13 knows it

finding examine_gpu(int ordinal) {
    const std::string what = fmt::format("cuda:{}", ordinal);
    try {
        CUdevice device{};
        check(driver().cuDeviceGet(&device, ordinal), "cuDeviceGet");
        std::size_t bytes = 0;
        check(driver().cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
        const lowering::machine m = describe_machine(device);
        return {what, true,
                fmt::format("{}, {}, {} SMs, {:.1f} GB of memory, about {:.0f} GB/s", m.name, m.architecture,
                            m.processors, 1e-9 * static_cast<double>(bytes), 1e-9 * m.bandwidth),
                ""};
    } catch (const error& failure) {
        return {what, false, failure.what(), ""};
    }
}

finding examine_nvrtc(int capability, int newest_major) {
    nvrtc_compiler compiler(capability, newest_major);
    if (!compiler.found())
        return {"NVRTC", false, compiler.missing(),
                "without it no GPU is used: `pip install nvidia-cuda-nvrtc` is enough"};
    try {
        compiler.compile("extern \"C\" __global__ void empty() {}\n");
        return {"NVRTC", true, fmt::format("{}, version {}", compiler.path().string(), compiler.version()), ""};
    } catch (const error& failure) {
        return {"NVRTC", false, failure.what(), "let RICCI_NVRTC name another"};
    }
}

finding examine_cublas(int newest_major) {
    const library_place place = find_cuda_library(cublas_library, newest_major);
    if (!place.file.empty()) return {"cuBLAS", true, place.file.string(), ""};
    return {"cuBLAS", false, place.missing,
            "large plain matrix products on a GPU are slower without it; nothing else needs it"};
}

} // namespace

std::vector<finding> examine_cuda() {
    std::vector<finding> all;
    int newest_major = CUDA_VERSION / 1000, capability = stand_in_capability, count = 0;
    if (const std::string& problem = driver_problem(); !problem.empty()) {
        all.push_back({"NVIDIA driver", false, problem,
                       "nothing, if this machine has no NVIDIA GPU: all statements run on the CPU"});
    } else {
        const int version = driver_version();
        newest_major = version / 1000;
        all.push_back(
            {"NVIDIA driver", true, fmt::format("for CUDA {}.{}", version / 1000, version % 1000 / 10), ""});
        driver().cuDeviceGetCount(&count);
        CUdevice first{};
        if (count > 0 && driver().cuDeviceGet(&first, 0) == CUDA_SUCCESS) capability = compute_capability(first);
    }
    for (int ordinal = 0; ordinal < std::min(count, max_cuda_devices); ++ordinal) all.push_back(examine_gpu(ordinal));
    all.push_back(examine_nvrtc(capability, newest_major));
    all.push_back(examine_cublas(newest_major));
    return all;
}

} // namespace ricci::runtime
