// doctor: what ricci finds on this machine, as plain facts for `ricci doctor`.
#pragma once

#include <string>
#include <vector>

namespace ricci::runtime {

struct finding {
    std::string what; ///< "NVRTC", "cuda:0", "C++ compiler"
    bool good = false;
    std::string detail;  ///< what was found, or what is wrong
    std::string advice;  ///< what to do about it; empty where nothing needs doing
    bool needed = false; ///< ricci wants it on every machine, with a GPU or not
};

/// The driver, each GPU, NVRTC, cuBLAS, the CPU's BLAS, the C++ compiler, the CPU's threads, the cache and the
/// default device, in this order. Loads the libraries and compiles an empty kernel with each compiler (0.3 s in all).
/// Never throws ricci::error.
std::vector<finding> examine();

/// The part of it that only a build with CUDA knows.
std::vector<finding> examine_cuda();

} // namespace ricci::runtime
