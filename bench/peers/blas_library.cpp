// blas_library: OpenBLAS's own functions, if the BLAS that was linked has them.
#include "bench/peers/blas_library.hpp"

#include <dlfcn.h>

namespace ricci::bench {

namespace {

template <class Function>
Function* find(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

} // namespace

std::string blas_version() {
    static const auto config = find<char*()>("openblas_get_config");
    return config ? config() : "";
}

void set_blas_threads(int count) {
    static const auto set = find<void(int)>("openblas_set_num_threads");
    if (set) set(count);
}

} // namespace ricci::bench
