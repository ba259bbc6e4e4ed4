// native_code: sources of bench/kernels/ for a CPU, compiled for this machine at run time as ricci's kernels are, and
// kept in the same cache.
#pragma once

#include <ricci/runtime/cpu_threads.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::bench {

/// `constants` followed by these files of bench/kernels/.
std::string native_source(const std::string& constants, std::initializer_list<std::string_view> files);

/// The functions of `source`, which has an extern "C" native_functions that writes the addresses of `count` of them
/// to the array at its first word: one source, one run of the compiler. Throws ricci::error (environment) where there
/// is no compiler, or it fails.
std::vector<runtime::cpu_kernel> native_functions(const std::string& source, std::size_t count);

/// An address as a word of a function's arguments.
inline std::uint64_t word_of(const void* data) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(data));
}

/// Throws ricci::error (environment) where there is no compiler.
void require_native_compiler();

/// The compiler's path, for a report.
std::string native_compiler();

} // namespace ricci::bench
