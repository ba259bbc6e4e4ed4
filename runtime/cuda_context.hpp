// cuda_context: a GPU's primary context, made current for a call, and what a thread may do while it captures.
// Private to runtime/cuda_* and cublas.
#pragma once

#include "runtime/cuda_check.hpp"

namespace ricci::runtime {

/// The primary context of device `ordinal`, the one that the CUDA runtime uses too; held until the process ends.
inline CUcontext retain_primary_context(int ordinal) {
    CUdevice device{};
    CUcontext context{};
    check(driver().cuDeviceGet(&device, ordinal), "cuDeviceGet");
    check(driver().cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    return context;
}

/// Makes `context` current on this thread for its lifetime; a user's own context is current again afterwards. A
/// thread that has none keeps this one, as with the CUDA runtime, which spares every launch a push and a pop.
class context_scope {
  public:
    context_scope(const cuda_driver& d, CUcontext context) : driver_(d) {
        CUcontext current{};
        check(d.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
        if (current == context) return;
        if (current == nullptr) {
            check(d.cuCtxSetCurrent(context), "cuCtxSetCurrent");
            return;
        }
        check(d.cuCtxPushCurrent(context), "cuCtxPushCurrent");
        pushed_ = true;
    }
    ~context_scope() {
        CUcontext ignored{};
        if (pushed_) driver_.cuCtxPopCurrent(&ignored);
    }
    context_scope(const context_scope&) = delete;
    context_scope& operator=(const context_scope&) = delete;

  private:
    const cuda_driver& driver_;
    bool pushed_ = false;
};

/// In its scope this thread may do what a capture of its own forbids, such as waiting for another stream.
class relaxed_capture {
  public:
    explicit relaxed_capture(const cuda_driver& d) : driver_(d) {
        check(d.cuThreadExchangeStreamCaptureMode(&mode_), "cuThreadExchangeStreamCaptureMode");
    }
    ~relaxed_capture() { driver_.cuThreadExchangeStreamCaptureMode(&mode_); }
    relaxed_capture(const relaxed_capture&) = delete;
    relaxed_capture& operator=(const relaxed_capture&) = delete;

  private:
    const cuda_driver& driver_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED; ///< then the one from before
};

} // namespace ricci::runtime
