// cuda_library: where the toolkit's libraries are on this machine, found without loading one. Needs no CUDA header.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::runtime {

/// A library of the CUDA toolkit that is used only where it is found at run time.
struct cuda_library {
    std::string_view name;  ///< "nvrtc": the files are libnvrtc.so.13, libnvrtc.so.12
    const char* variable;   ///< the environment variable that names the file, or its folder
    std::string_view wheel; ///< its folder below site-packages/nvidia in the Python wheels for CUDA 12
};

inline constexpr cuda_library nvrtc_library{"nvrtc", "RICCI_NVRTC", "cuda_nvrtc"};
inline constexpr cuda_library cublas_library{"cublas", "RICCI_CUBLAS", "cublas"};

inline constexpr int oldest_cuda_major = 12; ///< of a library that is taken

/// The outcome of a search.
struct library_place {
    std::filesystem::path file; ///< empty if there is none
    std::string missing;        ///< then: where it was looked for, and what to do
};

/// Looks for `library` of major version `newest_major` or older (a newer one makes code that the driver refuses) in:
/// the file or folder that library.variable names, and then nowhere else; the dynamic loader's folders; CUDA_HOME,
/// CUDA_PATH, /usr/local/cuda*, /opt/cuda; the wheels of the active Python environment, the user's and the system's.
library_place find_cuda_library(const cuda_library& library, int newest_major);

/// Path, size and modification time of the file behind `file`; empty if it cannot be read.
std::string file_identity(const std::filesystem::path& file);

/// The files in the folder of `file` whose names begin with `stem`, sorted, each real file once.
std::vector<std::filesystem::path> files_beside(const std::filesystem::path& file, std::string_view stem);

/// dlopen of `file`, after all `needed`, which some packages put where the loader does not look. Throws ricci::error
/// (environment) with the loader's message. Never closed.
void* open_library(const std::filesystem::path& file, const std::vector<std::filesystem::path>& needed);

} // namespace ricci::runtime
