// cuda_peer_library: finds and opens libraries that come with packages of their own.
#include "bench/peers/cuda_peer_library.hpp"

#include "runtime/cuda_driver.hpp"
#include "runtime/cuda_library.hpp"

#include <ricci/lowering/error.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>

#include <cstdlib>
#include <string_view>

namespace ricci::bench {

namespace {

namespace fs = std::filesystem;

std::string from_environment(const char* variable) {
    const char* const value = std::getenv(variable);
    return value ? value : "";
}

/// Folders where it may be, the first the best; each ends in a slash.
std::vector<std::string> patterns_of(const cuda_peer_library& library) {
    std::vector<std::string> patterns;
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX", "HOME"})
        if (std::string root = from_environment(variable); !root.empty()) {
            if (std::string_view(variable) == "HOME") root += "/.local";
            patterns.push_back(fmt::format("{}/lib/python3*/site-packages/{}/lib/", root, library.wheel));
            patterns.push_back(root + "/lib/");
        }
    for (const char* root : {"/usr/local", "/usr"})
        for (const char* packages : {"site-packages", "dist-packages"})
            patterns.push_back(fmt::format("{}/lib/python3*/{}/{}/lib/", root, packages, library.wheel));
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const std::string root = from_environment(variable); !root.empty()) patterns.push_back(root + "/lib64/");
    for (const char* folder : {"lib64", "lib"}) patterns.push_back(fmt::format("/usr/local/cuda*/{}/", folder));
    patterns.push_back(fmt::format("/usr/lib/x86_64-linux-gnu/{}", library.package_folder));
    return patterns;
}

fs::path find(const cuda_peer_library& library) {
    if (const std::string chosen = from_environment(library.variable); !chosen.empty())
        return fs::is_directory(chosen) ? fs::path(chosen) / library.name : fs::path(chosen);
    for (const std::string& pattern : patterns_of(library)) {
        glob_t found{};
        fs::path first;
        if (glob((pattern + library.name).c_str(), 0, nullptr, &found) == 0) first = found.gl_pathv[0];
        globfree(&found);
        if (!first.empty()) return first;
    }
    return library.name;
}

} // namespace

loaded_library::loaded_library(const cuda_peer_library& library, const std::vector<fs::path>& needed)
    : file_(find(library)) {
    try {
        handle_ = runtime::open_library(file_, needed);
    } catch (const error& e) {
        throw error(fmt::format("{} ({}, or name the file in {})", e.what(), library.remedy, library.variable),
                    blame::environment);
    }
}

void* loaded_library::symbol(const char* name) const {
    void* const found = dlsym(handle_, name);
    if (!found) throw error(fmt::format("{} has no {}: it is too old", file_.string(), name), blame::environment);
    return found;
}

std::vector<fs::path> library_of_gemms() {
    const auto place = runtime::find_cuda_library(runtime::cublas_library, runtime::driver_version() / 1000);
    return place.file.empty() ? std::vector<fs::path>{} : runtime::files_beside(place.file, "libcublasLt.so");
}

} // namespace ricci::bench
