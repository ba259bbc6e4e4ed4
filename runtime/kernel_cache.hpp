// kernel_cache: compiled kernels, in memory and on disk, found by the SHA-256 of all that shaped them.
#pragma once

#include "runtime/backend.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ricci::runtime {

/// Where a kernel was found.
enum class cache_hit { memory, disk, miss };

/// The loaded kernel for `source` (complete, no #include left) on `b`: from memory, from disk, or compiled now.
/// Equal requests of several threads compile once. Throws ricci::error with the compiler's log when it fails.
kernel_handle cached_kernel(backend& b, const std::string& source, const std::string& entry);

/// Where cached_kernel would find it, without loading or compiling anything.
cache_hit find_kernel(backend& b, const std::string& source, const std::string& entry);

/// How many kernels this process has compiled; for tests and explain.
std::int64_t compile_count();

/// RICCI_CACHE_SIZE ("500M", "2G"; default 1G) bounds it, by forgetting what was used least recently; 0 turns it off.
/// The directory on disk: RICCI_CACHE_DIR, else $XDG_CACHE_HOME/ricci, else ~/.cache/ricci. Empty if there is none.
std::filesystem::path cache_directory();

/// One entry on disk.
struct cache_entry {
    std::filesystem::path path;
    std::string key;          ///< SHA-256, hexadecimal
    std::string entry;        ///< the kernel's function
    std::string architecture; ///< and options it was compiled with
    std::uint64_t bytes = 0;
    std::int64_t last_used = 0; ///< seconds since 1970
};

/// The entries on disk, most recently used first. Damaged files are left out.
std::vector<cache_entry> list_cache();

/// Removes every entry on disk; returns how many. Only files that the cache itself wrote are touched.
std::int64_t clear_cache();

/// What is wrong with the directory ("owned by user 1001, not by you (0)"); empty if it can be used.
std::string cache_problem();

} // namespace ricci::runtime
