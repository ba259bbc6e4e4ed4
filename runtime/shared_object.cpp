// shared_object: loads a shared object from memory, so that the bytes that were verified are the bytes that run.
#include "runtime/shared_object.hpp"

#include "lowering/error.hpp"
#include "runtime/temporary_directory.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

namespace ricci::runtime {

namespace {

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// A path to the open file `file` that no earlier call has given. The dynamic linker takes equal names for equal
/// libraries, and file numbers come back; so the bits of a counter go into the path as "/." and "//.".
std::string unique_path(int file) {
    static std::atomic<std::uint32_t> counter = 0;
    std::string path = "/proc/self/fd";
    for (std::uint32_t bits = ++counter; bits; bits >>= 1) path += bits & 1 ? "/." : "//.";
    return fmt::format("{}/{}", path, file);
}

void* open_in_memory(const std::string& code) {
    const int file = memfd_create("ricci-kernel", MFD_CLOEXEC);
    if (file < 0) return nullptr;
    void* library = write_all(file, code) ? dlopen(unique_path(file).c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    close(file); // the mapping stays
    return library;
}

/// For a system without memfd_create or /proc: by way of a private folder.
void* open_from_file(const std::string& code) {
    const temporary_directory folder;
    const auto path = folder.path() / "kernel.so";
    std::ofstream out(path, std::ios::binary);
    out.write(code.data(), static_cast<std::streamsize>(code.size()));
    out.close();
    if (!out)
        throw error(fmt::format("cannot write the CPU kernel to {}: is the disk full?", path.string()),
                    blame::environment);
    return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

} // namespace

void* load_function(const std::string& code, const std::string& entry) {
    void* library = open_in_memory(code);
    if (!library) library = open_from_file(code);
    void* function = library ? dlsym(library, entry.c_str()) : nullptr;
    if (function) return function;
    const char* message = dlerror();
    const std::string text = message ? message : "no reason given";
    if (library) dlclose(library);
    throw error(fmt::format("cannot load the CPU kernel {}: {}", entry, text), blame::environment);
}

} // namespace ricci::runtime
