// lapack_library: finds LAPACK by the dynamic loader.
#include "bench/factor/lapack_library.hpp"

#include <ricci/lowering/error.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <type_traits>

namespace ricci::bench::factor {

namespace {

constexpr const char* variable = "RICCI_LAPACK";
constexpr const char* usual_files[] = {"liblapack.so.3", "libopenblas.so.0"};

bool is_lapack(void* library) { return dlsym(library, "dgeqrf_") != nullptr; }

/// The loader's handle of this program, whose dlsym looks in all that is linked.
void* find() {
    if (const char* const chosen = std::getenv(variable)) {
        void* const library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
        if (!library) throw error(fmt::format("{}: {}", variable, dlerror()), blame::environment);
        if (!is_lapack(library))
            throw error(fmt::format("{} names \"{}\", which has no dgeqrf_: it is no LAPACK", variable, chosen),
                        blame::environment);
        return library;
    }
    if (void* const program = dlopen(nullptr, RTLD_NOW); program && is_lapack(program)) return program;
    for (const char* file : usual_files)
        if (void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL); library && is_lapack(library)) return library;
    throw error(
        fmt::format("there is no LAPACK: not in what ricci is linked with, and no {} or {} (install OpenBLAS, "
                    "or name the file in {})",
                    usual_files[0], usual_files[1], variable),
        blame::environment);
}

char letter_of(lowering::scalar_type type) {
    using enum lowering::scalar_type;
    return type == f32 ? 's' : type == f64 ? 'd' : type == c64 ? 'c' : 'z';
}

} // namespace

lapack_library::lapack_library()
    : handle_(find()), set_threads_(reinterpret_cast<void (*)(int)>(dlsym(handle_, "openblas_set_num_threads"))) {}

void* lapack_library::symbol(const std::string& name) const {
    void* const found = dlsym(handle_, name.c_str());
    if (!found) throw error(fmt::format("{} has no {}", version(), name), blame::environment);
    return found;
}

lapack_functions lapack_library::of(lowering::scalar_type type) const {
    lapack_functions f;
    const auto load = [&](auto& to, const char* name) {
        to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(
            symbol(fmt::format("{}{}_", letter_of(type), name)));
    };
    load(f.potrf, "potrf"), load(f.potrs, "potrs"), load(f.posv, "posv");
    load(f.getrf, "getrf"), load(f.getrs, "getrs"), load(f.gesv, "gesv"), load(f.getri, "getri");
    load(f.geqrf, "geqrf"), load(f.apply_q, lowering::is_complex(type) ? "unmqr" : "ormqr");
    load(f.gels, "gels"), load(f.trtrs, "trtrs");
    return f;
}

std::string lapack_library::version() const {
    if (const auto config = reinterpret_cast<char* (*)()>(dlsym(handle_, "openblas_get_config"))) return config();
    Dl_info about{};
    if (dladdr(dlsym(handle_, "dgeqrf_"), &about) != 0 && about.dli_fname) return about.dli_fname;
    return "LAPACK";
}

void lapack_library::set_threads(int count) const {
    if (set_threads_) set_threads_(count);
}

} // namespace ricci::bench::factor
