// cuda_nvml_api: the few functions of NVML that the bench calls: from its header, or declared here where that is
// absent.
#pragma once

#if __has_include(<nvml.h>)
#include <nvml.h>
#else
extern "C" {
struct nvmlDevice_st;
using nvmlDevice_t = nvmlDevice_st*;
enum nvmlReturn_t : unsigned { NVML_SUCCESS = 0 };
enum nvmlClockType_t : unsigned { NVML_CLOCK_SM = 1 };
nvmlReturn_t nvmlInit_v2();
const char* nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* mhz);
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* mhz);
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* millijoules);
}
#endif
