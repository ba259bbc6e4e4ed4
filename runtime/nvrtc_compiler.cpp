// nvrtc_compiler: NVIDIA's run-time compiler, loaded on the first kernel that is in no cache.
#include "runtime/nvrtc_compiler.hpp"

#include "lowering/error.hpp"
#include "runtime/cuda_check.hpp"
#include "runtime/cuda_library.hpp"
#include "runtime/environment.hpp"
#include "runtime/temporary_directory.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <nvrtc.h>
#include <vector>

namespace ricci::runtime {

#define RICCI_NVRTC_FUNCTIONS(X)                                                                                     \
    X(nvrtcVersion)                                                                                                  \
    X(nvrtcGetErrorString)                                                                                           \
    X(nvrtcGetNumSupportedArchs)                                                                                     \
    X(nvrtcGetSupportedArchs)                                                                                        \
    X(nvrtcCreateProgram)                                                                                            \
    X(nvrtcDestroyProgram)                                                                                           \
    X(nvrtcCompileProgram)                                                                                           \
    X(nvrtcGetProgramLogSize)                                                                                        \
    X(nvrtcGetProgramLog)                                                                                            \
    X(nvrtcGetCUBINSize)                                                                                             \
    X(nvrtcGetCUBIN)                                                                                                 \
    X(nvrtcGetPTXSize)                                                                                               \
    X(nvrtcGetPTX)

struct nvrtc_compiler::functions {
#define RICCI_MEMBER(name) decltype(&::name) name = nullptr;
    RICCI_NVRTC_FUNCTIONS(RICCI_MEMBER)
#undef RICCI_MEMBER
    std::vector<int> architectures; ///< compute capabilities that it knows, ascending

    void check(nvrtcResult result, const char* call) const {
        if (result != NVRTC_SUCCESS) library_failure("NVRTC", call, result, nvrtcGetErrorString(result));
    }
    std::string version() const {
        int major = 0, minor = 0;
        check(nvrtcVersion(&major, &minor), "nvrtcVersion");
        return fmt::format("{}.{}", major, minor);
    }
};

namespace {

// Values stay IEEE: no --use_fast_math. C++20, 17 and 14 compile equally fast (NVRTC 13.0).
constexpr const char* language = "-std=c++20";

constexpr int first_specific_capability = 90; ///< sm_90a is the first with a suffix

/// A program of NVRTC, destroyed at the end of its scope.
template <class Functions>
class program {
  public:
    program(const Functions& f, const std::string& source) : f_(f) {
        f.check(f.nvrtcCreateProgram(&handle_, source.c_str(), "ricci.cu", 0, nullptr, nullptr),
                "nvrtcCreateProgram");
    }
    ~program() { f_.nvrtcDestroyProgram(&handle_); }
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    operator nvrtcProgram() const { return handle_; }

  private:
    const Functions& f_;
    nvrtcProgram handle_ = nullptr;
};

/// Writes a source that did not compile where the user can look at it; says where.
std::string keep(const std::string& source) {
    try {
        temporary_directory folder;
        const auto file = folder.path() / "kernel.cu";
        std::ofstream(file, std::ios::binary) << source;
        folder.keep();
        return "its input is kept in " + file.string();
    } catch (const error& failure) { // the log matters more
        return failure.what();
    }
}

} // namespace

nvrtc_compiler::nvrtc_compiler(int capability, int newest_major) : capability_(capability) {
    library_place place = find_cuda_library(nvrtc_library, newest_major);
    path_ = std::move(place.file);
    missing_ = std::move(place.missing);
    if (found()) {
        identity_ = file_identity(path_);
        for (const auto& builtins : files_beside(path_, "libnvrtc-builtins.so"))
            identity_ += "; " + file_identity(builtins);
    }
    line_info_ = is_debugging();
    options_ = fmt::format("--gpu-architecture=sm_{} {}{}", capability, language, line_info_ ? " -lineinfo" : "");
}

nvrtc_compiler::~nvrtc_compiler() = default;

const nvrtc_compiler::functions& nvrtc_compiler::loaded() {
    if (!found()) throw error("no compiler for GPU kernels: " + missing_, blame::environment);
    std::call_once(load_once_, [this] {
        // NVRTC asks the loader for its builtins by name, without a run path: from a wheel's folder it finds them
        // only loaded.
        void* library = open_library(path_, files_beside(path_, "libnvrtc-builtins.so"));
        auto f = std::make_unique<functions>();
#define RICCI_LOAD(name)                                                                                             \
    f->name = reinterpret_cast<decltype(f->name)>(dlsym(library, #name));                                            \
    if (!f->name) throw error(fmt::format("{} has no {}: it is too old", path_.string(), #name), blame::environment);
        RICCI_NVRTC_FUNCTIONS(RICCI_LOAD)
#undef RICCI_LOAD
        int count = 0;
        f->check(f->nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
        f->architectures.resize(static_cast<std::size_t>(count));
        f->check(f->nvrtcGetSupportedArchs(f->architectures.data()), "nvrtcGetSupportedArchs");
        std::sort(f->architectures.begin(), f->architectures.end());
        functions_ = std::move(f);
    });
    return *functions_;
}

std::string nvrtc_compiler::version() { return loaded().version(); }

std::string nvrtc_compiler::compile(const std::string& source) {
    const functions& f = loaded();
    const auto above = std::upper_bound(f.architectures.begin(), f.architectures.end(), capability_);
    if (above == f.architectures.begin())
        throw error(
            fmt::format(
                "NVRTC {} ({}) compiles for sm_{} and newer, this GPU is sm_{}: RICCI_NVRTC can name an older one",
                f.version(), path_.string(), f.architectures.front(), capability_),
            blame::environment);
    const int newest = above[-1];
    const bool is_native = newest == capability_; // else PTX, which the driver translates for a newer GPU
    const bool is_specific =
        is_native && capability_ >= first_specific_capability && source.starts_with(architecture_specific_marker);
    const std::string architecture =
        fmt::format("--gpu-architecture={}_{}{}", is_native ? "sm" : "compute", newest, is_specific ? "a" : "");
    std::vector<const char*> options{architecture.c_str(), language};
    if (line_info_) options.push_back("-lineinfo");

    const program<functions> unit(f, source);
    const nvrtcResult result = f.nvrtcCompileProgram(unit, static_cast<int>(options.size()), options.data());
    if (result != NVRTC_SUCCESS) {
        std::size_t size = 0;
        f.check(f.nvrtcGetProgramLogSize(unit, &size), "nvrtcGetProgramLogSize");
        std::string log(size, '\0');
        f.check(f.nvrtcGetProgramLog(unit, log.data()), "nvrtcGetProgramLog");
        throw error(fmt::format("NVRTC {} ({}) with {} failed: {}; {}, its log:\n{}", f.version(), path_.string(),
                                fmt::join(options, " "), f.nvrtcGetErrorString(result), keep(source), log.c_str()),
                    blame::environment);
    }
    std::size_t size = 0;
    f.check(is_native ? f.nvrtcGetCUBINSize(unit, &size) : f.nvrtcGetPTXSize(unit, &size), "nvrtcGetCUBINSize");
    std::string code(size, '\0');
    f.check(is_native ? f.nvrtcGetCUBIN(unit, code.data()) : f.nvrtcGetPTX(unit, code.data()), "nvrtcGetCUBIN");
    return code;
}

} // namespace ricci::runtime
