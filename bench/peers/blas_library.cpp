// blas_library: OpenBLAS's own function, if the BLAS that was linked has them.
#include "bench/peers/blas_library.hpp"

#include <dlfcn.h>

namespace ricci::bench {

std::string blas_version() {
    static const auto config = reinterpret_cast<char* (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_config"));
    return config ? config() : "";
}

} // namespace ricci::bench
