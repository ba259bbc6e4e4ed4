// cuda_driver: loads libcuda.so.1, the driver's own library, and starts it.
#include "runtime/cuda_driver.hpp"

#include "lowering/error.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>

namespace ricci::runtime {

namespace {

struct loaded_driver {
    cuda_driver functions;
    std::string problem;
};

std::string start(cuda_driver& d) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const std::string reason = library ? "" : dlerror();
    if (!library)
        library = dlopen("/usr/lib/wsl/lib/libcuda.so.1", RTLD_NOW | RTLD_LOCAL); // Windows' Linux keeps it there
    if (!library) return fmt::format("the NVIDIA driver's library cannot be loaded ({}): install the driver", reason);

#define RICCI_SYMBOL(name) #name
#define RICCI_LOAD(name)                                                                                             \
    d.name = reinterpret_cast<decltype(d.name)>(dlsym(library, RICCI_SYMBOL(name)));                                 \
    if (!d.name)                                                                                                     \
        return fmt::format("the NVIDIA driver has no {}: it is too old, ricci needs one for CUDA {} or newer",       \
                           RICCI_SYMBOL(name), 12);
    RICCI_CUDA_DRIVER_FUNCTIONS(RICCI_LOAD)
    RICCI_LOAD(cuStreamGetCaptureInfo_v2)
#undef RICCI_LOAD
#undef RICCI_SYMBOL

    const CUresult result = d.cuInit(0);
    if (result == CUDA_SUCCESS) return "";
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (result == CUDA_ERROR_NO_DEVICE)
        return fmt::format("the NVIDIA driver is there, but it shows no GPU{}",
                           visible ? fmt::format(": CUDA_VISIBLE_DEVICES is \"{}\"", visible) : "");
    const char* name = nullptr;
    const char* text = nullptr;
    d.cuGetErrorName(result, &name);
    d.cuGetErrorString(result, &text);
    return fmt::format("the NVIDIA driver cannot be started: cuInit: {} ({}): {}", name ? name : "unknown error",
                       static_cast<int>(result), text ? text : "no description");
}

const loaded_driver& loaded() {
    static const loaded_driver* const once = [] {
        auto* l = new loaded_driver; // never deleted: static tensors are released after static destructors began
        l->problem = start(l->functions);
        return l;
    }();
    return *once;
}

} // namespace

const std::string& driver_problem() noexcept { return loaded().problem; }

const cuda_driver& driver() {
    if (!loaded().problem.empty()) throw error("no GPU can be used: " + loaded().problem, blame::environment);
    return loaded().functions;
}

int driver_version() {
    int version = 0;
    driver().cuDriverGetVersion(&version);
    return version;
}

} // namespace ricci::runtime
