// cuda_cudnn_api: the functions of cuDNN 9 that the bench calls: from its header, or declared here where that is
// absent.
#pragma once

#include <cuda.h>

#include <cstddef>

#if __has_include(<cudnn.h>)
#include <cudnn.h>
#else
extern "C" {
struct CUstream_st;
struct cudnnContext;
struct cudnnTensorStruct;
struct cudnnFilterStruct;
struct cudnnConvolutionStruct;
struct cudnnActivationStruct;
using cudnnHandle_t = cudnnContext*;
using cudnnTensorDescriptor_t = cudnnTensorStruct*;
using cudnnFilterDescriptor_t = cudnnFilterStruct*;
using cudnnConvolutionDescriptor_t = cudnnConvolutionStruct*;
using cudnnActivationDescriptor_t = cudnnActivationStruct*;
enum cudnnStatus_t : unsigned { CUDNN_STATUS_SUCCESS = 0 };
enum cudnnDataType_t : unsigned { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_HALF = 2 };
enum cudnnTensorFormat_t : unsigned { CUDNN_TENSOR_NCHW = 0, CUDNN_TENSOR_NHWC = 1 };
enum cudnnMathType_t : unsigned {
    CUDNN_DEFAULT_MATH = 0,
    CUDNN_TENSOR_OP_MATH = 1,
    CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION = 2,
    CUDNN_FMA_MATH = 3
};
enum cudnnConvolutionMode_t : unsigned { CUDNN_CROSS_CORRELATION = 1 };
enum cudnnActivationMode_t : unsigned { CUDNN_ACTIVATION_RELU = 1 };
enum cudnnNanPropagation_t : unsigned { CUDNN_NOT_PROPAGATE_NAN = 0 };
enum cudnnDeterminism_t : unsigned { CUDNN_NON_DETERMINISTIC = 0 };
enum cudnnConvolutionFwdAlgo_t : unsigned { CUDNN_CONVOLUTION_FWD_ALGO_COUNT = 8 };
struct cudnnConvolutionFwdAlgoPerf_t {
    cudnnConvolutionFwdAlgo_t algo;
    cudnnStatus_t status;
    float time;
    std::size_t memory;
    cudnnDeterminism_t determinism;
    cudnnMathType_t mathType;
    int reserved[3];
};

cudnnStatus_t cudnnCreate(cudnnHandle_t* made);
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);
std::size_t cudnnGetVersion();
const char* cudnnGetErrorString(cudnnStatus_t status);
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, CUstream_st* stream);
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* made);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor);
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t descriptor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w);
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* made);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor);
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t descriptor, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w);
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* made);
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor);
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t descriptor, int pad_h, int pad_w,
                                              int stride_h, int stride_w, int dilation_h, int dilation_w,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t compute_type);
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t descriptor, cudnnMathType_t math);
cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* made);
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t descriptor);
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t descriptor, cudnnActivationMode_t mode,
                                           cudnnNanPropagation_t nan, double coefficient);
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                      cudnnFilterDescriptor_t w,
                                                      cudnnConvolutionDescriptor_t convolution,
                                                      cudnnTensorDescriptor_t y, cudnnConvolutionFwdAlgo_t algorithm,
                                                      std::size_t* bytes);
cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle, cudnnTensorDescriptor_t x_descriptor,
                                                     const void* x, cudnnFilterDescriptor_t w_descriptor,
                                                     const void* w, cudnnConvolutionDescriptor_t convolution,
                                                     cudnnTensorDescriptor_t y_descriptor, void* y, int requested,
                                                     int* returned, cudnnConvolutionFwdAlgoPerf_t* results,
                                                     void* workspace, std::size_t bytes);
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x_descriptor,
                                      const void* x, cudnnFilterDescriptor_t w_descriptor, const void* w,
                                      cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
                                      void* workspace, std::size_t bytes, const void* beta,
                                      cudnnTensorDescriptor_t y_descriptor, void* y);
cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void* alpha1, cudnnTensorDescriptor_t x_descriptor, const void* x,
    cudnnFilterDescriptor_t w_descriptor, const void* w, cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionFwdAlgo_t algorithm, void* workspace, std::size_t bytes, const void* alpha2,
    cudnnTensorDescriptor_t z_descriptor, const void* z, cudnnTensorDescriptor_t bias_descriptor, const void* bias,
    cudnnActivationDescriptor_t activation, cudnnTensorDescriptor_t y_descriptor, void* y);
cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t a_descriptor,
                             const void* a, const void* beta, cudnnTensorDescriptor_t c_descriptor, void* c);
cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle, cudnnActivationDescriptor_t activation, const void* alpha,
                                     cudnnTensorDescriptor_t x_descriptor, const void* x, const void* beta,
                                     cudnnTensorDescriptor_t y_descriptor, void* y);
cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x_descriptor,
                                   const void* x, const void* beta, cudnnTensorDescriptor_t y_descriptor, void* y);
}
#endif
