// cuda_machine: what lowering wants to know of a GPU, from the driver's attributes. Private to runtime/cuda_*.
#pragma once

#include "lowering/machine.hpp"
#include "runtime/cuda_driver.hpp"

namespace ricci::runtime {

/// One attribute of a device; throws ricci::error (environment) if the driver does not know it.
int attribute(CUdevice device, CUdevice_attribute which);

/// 90 for sm_90.
int compute_capability(CUdevice device);

std::string device_name(CUdevice device);

/// `has_blas` is left false: that is the library's to say.
lowering::machine describe_machine(CUdevice device);

} // namespace ricci::runtime
