// cuda_library: where the toolkit's libraries are on this machine, found without loading one.
#include "runtime/cuda_library.hpp"

#include "lowering/error.hpp"
#include "runtime/environment.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <glob.h>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <system_error>

namespace ricci::runtime {

namespace {

namespace fs = std::filesystem;
using paths = std::vector<fs::path>;

#ifdef __aarch64__
constexpr const char* toolkit_target = "targets/sbsa-linux/lib";
#else
constexpr const char* toolkit_target = "targets/x86_64-linux/lib";
#endif

bool is_file(const fs::path& file) {
    std::error_code failure;
    return fs::is_regular_file(file, failure);
}

/// What a shell pattern matches, in strverscmp's order: cuda-12.9 before cuda-12.10.
paths expand(const std::string& pattern) {
    paths all;
    glob_t found{};
    if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
        all.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    std::sort(all.begin(), all.end(),
              [](const fs::path& a, const fs::path& b) { return strverscmp(a.c_str(), b.c_str()) < 0; });
    return all;
}

void read_loader_configuration(const fs::path& file, paths& folders, int depth) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string word;
        if (!(words >> word)) continue;
        if (word != "include") {
            folders.push_back(word);
        } else if (depth < 4) {
            while (words >> word)
                for (const fs::path& next :
                     expand(fs::path(word).is_absolute() ? word : (file.parent_path() / word).string()))
                    read_loader_configuration(next, folders, depth + 1);
        }
    }
}

/// LD_LIBRARY_PATH as it was when the program started, its run path, the system's folders, and those of
/// /etc/ld.so.conf.
void add_loader_folders(paths& folders) {
    if (void* self = dlopen(nullptr, RTLD_LAZY)) {
        Dl_serinfo size{};
        if (dlinfo(self, RTLD_DI_SERINFOSIZE, &size) == 0) {
            std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
            auto* list = reinterpret_cast<Dl_serinfo*>(memory.data());
            *list = size;
            if (dlinfo(self, RTLD_DI_SERINFO, list) == 0)
                for (unsigned i = 0; i < list->dls_cnt; ++i) folders.push_back((&list->dls_serpath[0] + i)->dls_name);
        }
        dlclose(self);
    }
    read_loader_configuration("/etc/ld.so.conf", folders, 0);
}

void add_toolkit_folders(paths& folders) {
    paths roots;
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* root = variable(name)) roots.emplace_back(root);
    roots.emplace_back("/usr/local/cuda");
    const paths versions = expand("/usr/local/cuda-*");
    roots.insert(roots.end(), versions.rbegin(), versions.rend()); // the newest first
    roots.emplace_back("/opt/cuda");
    for (const fs::path& root : roots)
        for (const char* folder : {"lib64", "lib", toolkit_target}) folders.push_back(root / folder);
}

void add_wheel_folders(const cuda_library& library, int newest_major, paths& folders) {
    std::vector<std::string> prefixes;
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (const char* root = variable(name)) {
            prefixes.emplace_back(root);
            folders.push_back(fs::path(root) / "lib"); // Conda has libraries there
        }
    if (const char* home = variable("HOME")) prefixes.push_back(fmt::format("{}/.local", home));
    prefixes.insert(prefixes.end(), {"/usr/local", "/usr"});
    for (const std::string& prefix : prefixes)
        for (const char* packages : {"site-packages", "dist-packages"})
            for (const fs::path& root : expand(fmt::format("{}/lib/python3*/{}/nvidia", prefix, packages))) {
                for (int major = newest_major; major >= oldest_cuda_major; --major)
                    folders.push_back(root / fmt::format("cu{}", major) / "lib");
                folders.push_back(root / library.wheel / "lib");
            }
}

/// The newest of `library` in `folder`; empty if there is none.
fs::path newest_in(const fs::path& folder, const cuda_library& library, int newest_major) {
    for (int major = newest_major; major >= oldest_cuda_major; --major)
        if (fs::path file = folder / fmt::format("lib{}.so.{}", library.name, major); is_file(file)) return file;
    return {};
}

} // namespace

library_place find_cuda_library(const cuda_library& library, int newest_major) {
    if (const char* chosen = variable(library.variable)) {
        if (is_file(chosen)) return {chosen, ""};
        if (const fs::path file = newest_in(chosen, library, newest_major); !file.empty()) return {file, ""};
        return {"", fmt::format("{} names \"{}\", which is no library and no folder with lib{}.so.{} or older in it",
                                library.variable, chosen, library.name, newest_major)};
    }
    paths folders;
    add_loader_folders(folders);
    add_toolkit_folders(folders);
    add_wheel_folders(library, newest_major, folders);
    for (const fs::path& folder : folders)
        if (const fs::path file = newest_in(folder, library, newest_major); !file.empty()) return {file, ""};
    return {"",
            fmt::format("lib{0}.so.{1} (or older, to .{2}) is in none of the loader's folders, CUDA_HOME, CUDA_PATH, "
                        "/usr/local/cuda* and Python's nvidia wheels: install the CUDA toolkit or `pip install "
                        "nvidia-{3}`, or name the file in {4}",
                        library.name, newest_major, oldest_cuda_major,
                        library.wheel == "cublas" ? "cublas" : "cuda-nvrtc", library.variable)};
}

std::string file_identity(const fs::path& file) {
    std::error_code failure;
    const fs::path real = fs::canonical(file, failure);
    struct stat facts {};
    if (failure || stat(real.c_str(), &facts) != 0) return "";
    return fmt::format("{} {} {}.{:09}", real.string(), facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

std::vector<fs::path> files_beside(const fs::path& file, std::string_view stem) {
    std::set<fs::path> real;
    std::error_code failure;
    for (fs::directory_iterator entry(file.parent_path(), failure), end; !failure && entry != end;
         entry.increment(failure)) {
        std::error_code dangling;
        if (!entry->path().filename().string().starts_with(stem)) continue;
        if (fs::path target = fs::canonical(entry->path(), dangling); !dangling) real.insert(std::move(target));
    }
    return {real.begin(), real.end()};
}

void* open_library(const fs::path& file, const std::vector<fs::path>& needed) {
    for (const fs::path& other : needed)
        dlopen(other.c_str(), RTLD_NOW | RTLD_LOCAL); // if it fails, the next one says so
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    throw error(fmt::format("cannot load {}: {}", file.string(), dlerror()), blame::environment);
}

} // namespace ricci::runtime
