// cuda_check: turns a failed call of the driver, NVRTC or cuBLAS into a ricci::error.
#include "runtime/cuda_check.hpp"

#include "lowering/error.hpp"

#include <fmt/format.h>

namespace ricci::runtime {

namespace {

/// What the user can do about it; empty where the description says all.
const char* advice(CUresult result) {
    switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
        return "A kernel started before this call failed, and the driver refuses every later call of this process: "
               "start it anew. `compute-sanitizer PROGRAM` names the kernel, with RICCI_DEBUG=1 the line too.";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_UNKNOWN:
        return "The GPU is lost to this process: start it anew; if that does not help, look at `nvidia-smi` and "
               "`dmesg`.";
    case CUDA_ERROR_NOT_INITIALIZED:
        return "A process made by fork() after CUDA was started cannot use it: fork first, or exec.";
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return "Another stream is being captured while this thread's statements go to the default stream: call "
               "ricci::set_stream(device, stream) with the captured stream before the capture begins.";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
        return "A capture takes only statements that have run once before it began, and nothing that waits.";
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
        return "The two streams belong to different captures: end one before the other's stream is used.";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_INVALID_PTX:
        return "NVRTC is newer than the driver, or does not know this GPU: RICCI_NVRTC can name another.";
    default:
        return "";
    }
}

} // namespace

std::string describe(CUresult result) {
    const char* name = nullptr;
    const char* text = nullptr;
    driver().cuGetErrorName(result, &name);
    driver().cuGetErrorString(result, &text);
    const char* hint = advice(result);
    return fmt::format("{} ({}): {}{}{}", name ? name : "unknown error", static_cast<int>(result),
                       text ? text : "no description", *hint ? ". " : "", hint);
}

void driver_failure(CUresult result, const char* call, const std::string& facts) {
    throw error(fmt::format("{}: {}{}{}", call, describe(result), facts.empty() ? "" : "\n", facts),
                blame::environment);
}

void library_failure(const char* library, const char* call, int code, const char* description) {
    throw error(
        fmt::format("{}: {} failed with {}: {}", library, call, code, description ? description : "unknown error"),
        blame::environment);
}

} // namespace ricci::runtime
