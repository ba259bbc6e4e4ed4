// cuda_cutensor_api: the functions of cuTENSOR 2 that the bench calls: from its header, or declared here where that
// is absent.
#pragma once

#include <cuda.h>
#include <library_types.h>

#include <cstddef>
#include <cstdint>

#if __has_include(<cutensor.h>)
#include <cutensor.h>
#else
extern "C" {
struct CUstream_st;
struct cutensorHandle;
struct cutensorTensorDescriptor;
struct cutensorOperationDescriptor;
struct cutensorPlan;
struct cutensorPlanPreference;
struct cutensorComputeDescriptor;
using cutensorHandle_t = cutensorHandle*;
using cutensorTensorDescriptor_t = cutensorTensorDescriptor*;
using cutensorOperationDescriptor_t = cutensorOperationDescriptor*;
using cutensorPlan_t = cutensorPlan*;
using cutensorPlanPreference_t = cutensorPlanPreference*;
using cutensorComputeDescriptor_t = cutensorComputeDescriptor*;
enum cutensorStatus_t : unsigned { CUTENSOR_STATUS_SUCCESS = 0 };
enum cutensorOperator_t : unsigned { CUTENSOR_OP_IDENTITY = 1, CUTENSOR_OP_CONJ = 9 };
enum cutensorAlgo_t : int { CUTENSOR_ALGO_DEFAULT = -1 };
enum cutensorJitMode_t : unsigned { CUTENSOR_JIT_MODE_NONE = 0 };
enum cutensorWorksizePreference_t : unsigned { CUTENSOR_WORKSPACE_DEFAULT = 2 };

cutensorStatus_t cutensorCreate(cutensorHandle_t* handle);
cutensorStatus_t cutensorDestroy(cutensorHandle_t handle);
const char* cutensorGetErrorString(cutensorStatus_t status);
std::size_t cutensorGetVersion();
cutensorStatus_t cutensorCreateTensorDescriptor(cutensorHandle_t handle, cutensorTensorDescriptor_t* made,
                                                std::uint32_t modes, const std::int64_t* extents,
                                                const std::int64_t* strides, cudaDataType_t type,
                                                std::uint32_t alignment);
cutensorStatus_t cutensorDestroyTensorDescriptor(cutensorTensorDescriptor_t descriptor);
cutensorStatus_t cutensorCreateContraction(cutensorHandle_t handle, cutensorOperationDescriptor_t* made,
                                           cutensorTensorDescriptor_t a, const std::int32_t* modes_a,
                                           cutensorOperator_t operator_a, cutensorTensorDescriptor_t b,
                                           const std::int32_t* modes_b, cutensorOperator_t operator_b,
                                           cutensorTensorDescriptor_t c, const std::int32_t* modes_c,
                                           cutensorOperator_t operator_c, cutensorTensorDescriptor_t d,
                                           const std::int32_t* modes_d, cutensorComputeDescriptor_t compute);
cutensorStatus_t cutensorDestroyOperationDescriptor(cutensorOperationDescriptor_t descriptor);
cutensorStatus_t cutensorCreatePlanPreference(cutensorHandle_t handle, cutensorPlanPreference_t* made,
                                              cutensorAlgo_t algorithm, cutensorJitMode_t jit);
cutensorStatus_t cutensorDestroyPlanPreference(cutensorPlanPreference_t preference);
cutensorStatus_t cutensorEstimateWorkspaceSize(cutensorHandle_t handle, cutensorOperationDescriptor_t operation,
                                               cutensorPlanPreference_t preference,
                                               cutensorWorksizePreference_t workspace, std::uint64_t* bytes);
cutensorStatus_t cutensorCreatePlan(cutensorHandle_t handle, cutensorPlan_t* made,
                                    cutensorOperationDescriptor_t operation, cutensorPlanPreference_t preference,
                                    std::uint64_t workspace_bytes);
cutensorStatus_t cutensorDestroyPlan(cutensorPlan_t plan);
cutensorStatus_t cutensorContract(cutensorHandle_t handle, cutensorPlan_t plan, const void* alpha, const void* a,
                                  const void* b, const void* beta, const void* c, void* d, void* workspace,
                                  std::uint64_t workspace_bytes, CUstream_st* stream);
}
#endif
