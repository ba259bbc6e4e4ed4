// cuda_facts: driver, clock and energy of a GPU, by NVML, which is loaded at run time.
#include "bench/gpu_facts.hpp"
#include "bench/peers/cuda_nvml_api.hpp"

#include "runtime/cuda_check.hpp"

#include <ricci/lowering/error.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ricci::bench {

namespace {

#define RICCI_NVML_FUNCTIONS(X)                                                                                      \
    X(nvmlInit_v2)                                                                                                   \
    X(nvmlErrorString)                                                                                               \
    X(nvmlSystemGetDriverVersion)                                                                                    \
    X(nvmlDeviceGetHandleByPciBusId_v2)                                                                              \
    X(nvmlDeviceGetClockInfo)                                                                                        \
    X(nvmlDeviceGetMaxClockInfo)                                                                                     \
    X(nvmlDeviceGetTotalEnergyConsumption)

struct nvml_functions {
#define RICCI_MEMBER(name) decltype(&::name) name = nullptr;
    RICCI_NVML_FUNCTIONS(RICCI_MEMBER)
#undef RICCI_MEMBER
    std::string problem; ///< why it cannot be used; empty if it can

    void check(nvmlReturn_t result, const char* call) const {
        if (result != NVML_SUCCESS)
            throw error(fmt::format("{}: {}", call, nvmlErrorString(result)), blame::environment);
    }
};

nvml_functions load() {
    nvml_functions f;
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        f.problem = fmt::format("NVML cannot be loaded: {}", dlerror());
        return f;
    }
#define RICCI_LOAD(name)                                                                                             \
    f.name = reinterpret_cast<decltype(f.name)>(dlsym(library, #name));                                              \
    if (!f.name) f.problem = "NVML has no " #name ": the driver is too old";
    RICCI_NVML_FUNCTIONS(RICCI_LOAD)
#undef RICCI_LOAD
    if (f.problem.empty())
        if (const nvmlReturn_t result = f.nvmlInit_v2(); result != NVML_SUCCESS)
            f.problem = fmt::format("NVML cannot be started: {}", f.nvmlErrorString(result));
    return f;
}

const nvml_functions& nvml() {
    static const nvml_functions once = load();
    if (!once.problem.empty()) throw error(once.problem, blame::environment);
    return once;
}

CUdevice driver_device(device where) {
    CUdevice d{};
    runtime::check(runtime::driver().cuDeviceGet(&d, where.code() - 1), "cuDeviceGet");
    return d;
}

/// NVML counts GPUs in another order than CUDA: the place on the bus is the same.
nvmlDevice_t nvml_device(device where) {
    std::array<char, 64> place{};
    runtime::check(
        runtime::driver().cuDeviceGetPCIBusId(place.data(), static_cast<int>(place.size()), driver_device(where)),
        "cuDeviceGetPCIBusId");
    nvmlDevice_t d{};
    nvml().check(nvml().nvmlDeviceGetHandleByPciBusId_v2(place.data(), &d), "nvmlDeviceGetHandleByPciBusId");
    return d;
}

void ask_nvml(gpu_facts& facts, device where) {
    const nvml_functions& f = nvml();
    std::array<char, 96> text{};
    if (f.nvmlSystemGetDriverVersion(text.data(), static_cast<unsigned>(text.size())) == NVML_SUCCESS)
        facts.driver = text.data();
    unsigned mhz = 0;
    const nvmlDevice_t d = nvml_device(where);
    if (f.nvmlDeviceGetClockInfo(d, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS) facts.clock_mhz = static_cast<int>(mhz);
    if (f.nvmlDeviceGetMaxClockInfo(d, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS)
        facts.max_clock_mhz = static_cast<int>(mhz);
}

class nvml_meter : public energy_meter {
  public:
    explicit nvml_meter(device where) : device_(nvml_device(where)) {
        joules();
    } // throws now, not after the first row
    double joules() override {
        unsigned long long millijoules = 0;
        f_.check(f_.nvmlDeviceGetTotalEnergyConsumption(device_, &millijoules),
                 "nvmlDeviceGetTotalEnergyConsumption");
        return 1e-3 * static_cast<double>(millijoules);
    }

  private:
    const nvml_functions& f_ = nvml();
    nvmlDevice_t device_;
};

} // namespace

gpu_facts facts_of(device where) {
    gpu_facts facts;
    if (!where.is_cuda()) return facts;
    const int version = runtime::driver_version();
    facts.cuda = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    int khz = 0;
    runtime::check(runtime::driver().cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, driver_device(where)),
                   "cuDeviceGetAttribute");
    facts.max_clock_mhz = khz / 1000;
    try {
        ask_nvml(facts, where);
    } catch (const error&) { // the run goes on without what it tells
    }
    return facts;
}

std::unique_ptr<energy_meter> make_energy_meter(device where) {
    if (!where.is_cuda()) throw error("--energy: only GPUs count what they take", blame::environment);
    return std::make_unique<nvml_meter>(where);
}

} // namespace ricci::bench
