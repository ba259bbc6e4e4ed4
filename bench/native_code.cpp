// native_code: sources for a CPU, compiled at run time.
#include "bench/native_code.hpp"

#include "bench/kernels/embedded.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/kernel_cache.hpp>

namespace ricci::bench {

std::string native_source(const std::string& constants, std::initializer_list<std::string_view> files) {
    std::string source = constants;
    for (const std::string_view file : files) source += source_file(file);
    return source;
}

std::vector<runtime::cpu_kernel> native_functions(const std::string& source, std::size_t count) {
    require_native_compiler();
    const auto list = reinterpret_cast<runtime::cpu_kernel>(
        runtime::cached_kernel(runtime::backend_of(cpu()), source, "native_functions"));
    std::vector<runtime::cpu_kernel> all(count);
    const std::uint64_t word = word_of(all.data());
    list(&word, 0, 1);
    return all;
}

void require_native_compiler() {
    if (!runtime::backend_of(cpu()).machine().has_compiler)
        throw error("there is no C++ compiler to compile it when it is measured", blame::environment);
}

std::string native_compiler() {
    const std::string identity = runtime::backend_of(cpu()).jit().identity();
    return identity.substr(0, identity.find(' '));
}

} // namespace ricci::bench
