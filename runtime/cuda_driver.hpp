// cuda_driver: the functions of libcuda.so.1 that ricci calls, loaded at run time. Private to runtime/cuda_* and
// cublas.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

namespace ricci::runtime {

// <cuda.h> renames some functions to their newest version (cuMemAlloc is a macro for cuMemAlloc_v2). The same macros
// apply to each name here and wherever a member is called, so both always mean the version that the header declares.
#define RICCI_CUDA_DRIVER_FUNCTIONS(X)                                                                               \
    X(cuInit)                                                                                                        \
    X(cuDriverGetVersion)                                                                                            \
    X(cuGetErrorName)                                                                                                \
    X(cuGetErrorString)                                                                                              \
    X(cuDeviceGet)                                                                                                   \
    X(cuDeviceGetCount)                                                                                              \
    X(cuDeviceGetName)                                                                                               \
    X(cuDeviceGetAttribute)                                                                                          \
    X(cuDeviceGetPCIBusId)                                                                                           \
    X(cuDeviceTotalMem)                                                                                              \
    X(cuDeviceGraphMemTrim)                                                                                          \
    X(cuDevicePrimaryCtxRetain)                                                                                      \
    X(cuCtxGetCurrent)                                                                                               \
    X(cuCtxSetCurrent)                                                                                               \
    X(cuCtxPushCurrent)                                                                                              \
    X(cuCtxPopCurrent)                                                                                               \
    X(cuModuleLoadDataEx)                                                                                            \
    X(cuModuleUnload)                                                                                                \
    X(cuModuleGetFunction)                                                                                           \
    X(cuModuleGetGlobal)                                                                                             \
    X(cuFuncGetAttribute)                                                                                            \
    X(cuFuncSetAttribute)                                                                                            \
    X(cuLaunchKernelEx)                                                                                              \
    X(cuTensorMapEncodeTiled)                                                                                        \
    X(cuMemPoolCreate)                                                                                               \
    X(cuMemPoolSetAttribute)                                                                                         \
    X(cuMemPoolTrimTo)                                                                                               \
    X(cuMemAllocFromPoolAsync)                                                                                       \
    X(cuMemFreeAsync)                                                                                                \
    X(cuMemAlloc)                                                                                                    \
    X(cuMemFree)                                                                                                     \
    X(cuMemGetInfo)                                                                                                  \
    X(cuMemsetD8Async)                                                                                               \
    X(cuMemcpyHtoDAsync)                                                                                             \
    X(cuMemcpyDtoHAsync)                                                                                             \
    X(cuMemcpyDtoDAsync)                                                                                             \
    X(cuStreamSynchronize)                                                                                           \
    X(cuStreamWaitEvent)                                                                                             \
    X(cuStreamIsCapturing)                                                                                           \
    X(cuThreadExchangeStreamCaptureMode)                                                                             \
    X(cuUserObjectCreate)                                                                                            \
    X(cuGraphRetainUserObject)                                                                                       \
    X(cuEventCreate)                                                                                                 \
    X(cuEventRecord)                                                                                                 \
    X(cuEventSynchronize)                                                                                            \
    X(cuEventElapsedTime)                                                                                            \
    X(cuEventDestroy)

/// Members have the driver's own names: driver().cuMemAlloc(&p, bytes).
struct cuda_driver {
#define RICCI_MEMBER(name) decltype(&::name) name = nullptr;
    RICCI_CUDA_DRIVER_FUNCTIONS(RICCI_MEMBER)
#undef RICCI_MEMBER
    /// Headers of CUDA 12 and 13 mean different functions by its name without the version.
    CUresult (*cuStreamGetCaptureInfo_v2)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                          const CUgraphNode**, std::size_t*) = nullptr;
};

/// The driver, loaded and started on the first call. Throws ricci::error (environment) with driver_problem().
const cuda_driver& driver();

/// Why there is no usable driver or GPU; empty if there is.
const std::string& driver_problem() noexcept;

/// The CUDA version that the driver supports, as 13000 for 13.0. Needs a driver.
int driver_version();

} // namespace ricci::runtime
