// cuda_machine: what lowering wants to know of a GPU, from the driver's attributes.
#include "runtime/cuda_machine.hpp"

#include "runtime/cuda_check.hpp"

#include <fmt/format.h>

namespace ricci::runtime {

namespace {

struct arithmetic {
    int capability;
    int f64, f32; ///< fused multiply-adds per SM and clock, without tensor cores
};

// The CUDA C++ programming guide's table of arithmetic throughput. A capability not listed counts as the one before
// it.
constexpr arithmetic throughput[] = {{70, 32, 64},  {75, 1, 64},    {80, 32, 64},  {86, 1, 128},
                                     {90, 64, 128}, {100, 64, 128}, {103, 1, 128}, {120, 1, 128}};

arithmetic throughput_of(int capability) {
    arithmetic best = throughput[0];
    for (const arithmetic& row : throughput)
        if (row.capability <= capability) best = row;
    return best;
}

constexpr double bandwidth_share = 0.9;     ///< a triad's part of the memory's peak (H100: 3.0 of 3.35 TB/s)
constexpr double unknown_bandwidth = 500e9; ///< where a virtual GPU hides its memory clock
constexpr double launch_seconds = 2.5e-6;   ///< from one empty kernel to the next in a stream (H100)

} // namespace

int attribute(CUdevice device, CUdevice_attribute which) {
    int value = 0;
    check(driver().cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
}

int compute_capability(CUdevice device) {
    return 10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
           attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

std::string device_name(CUdevice device) {
    char name[256] = {};
    check(driver().cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
    return name;
}

lowering::machine describe_machine(CUdevice device) {
    const int capability = compute_capability(device);
    const arithmetic fma = throughput_of(capability);
    lowering::machine m;
    m.kind = lowering::target::cuda;
    m.name = device_name(device);
    m.architecture = fmt::format("sm_{}", capability);
    m.processors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    m.shared_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    std::size_t memory = 0;
    check(driver().cuDeviceTotalMem(&memory, device), "cuDeviceTotalMem");
    m.memory_bytes = static_cast<std::int64_t>(memory);
    const double clocks =
        1e3 * attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * m.processors; // the attribute: kHz
    m.flops_f64 = 2 * clocks * fma.f64;
    m.flops_f32 = 2 * clocks * fma.f32;
    const double memory_clock = 1e3 * attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    const double bus_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8.0;
    const double peak = 2 * memory_clock * bus_bytes; // two transfers a clock
    m.bandwidth = peak > 0 ? bandwidth_share * peak : unknown_bandwidth;
    m.launch_seconds = launch_seconds;
    return m;
}

} // namespace ricci::runtime
