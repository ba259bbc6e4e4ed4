// cuda_check: turns a failed call of the driver, NVRTC or cuBLAS into a ricci::error. Private to runtime/cuda_* and
// friends.
#pragma once

#include "runtime/cuda_driver.hpp"

#include <string>

namespace ricci::runtime {

/// The code's name, number and description, and what to do where that is known.
std::string describe(CUresult result);

/// Throws ricci::error (environment): "CALL: describe(result)", then `facts` on a line of its own.
[[noreturn]] void driver_failure(CUresult result, const char* call, const std::string& facts = {});

/// `call` is the function's name, for the message.
inline void check(CUresult result, const char* call) {
    if (result != CUDA_SUCCESS) [[unlikely]]
        driver_failure(result, call);
}

/// The same for a library that names its own codes.
[[noreturn]] void library_failure(const char* library, const char* call, int code, const char* description);

} // namespace ricci::runtime
