// cache_disk: finds, stores and forgets one kernel in the cache's directory.
#include "runtime/cache_disk.hpp"

#include "runtime/cache_folder.hpp"
#include "runtime/cache_upkeep.hpp"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace ricci::runtime {

namespace {

constexpr std::time_t touched_every = 60; ///< seconds: a hit costs no write to the disk more often than that

std::string shelf_of(const std::string& key) { return key.substr(0, 2); }
std::string name_of(const std::string& key) { return key.substr(2) + ".kernel"; }

std::string reason(int code) { return std::generic_category().message(code); }

void mark_used(int file, const struct stat& status) {
    if (std::time(nullptr) - status.st_mtim.tv_sec > touched_every) futimens(file, nullptr); // read-only: as well
}

/// One attempt to store `bytes` under `key`; 0, or the error's number with `problem` set.
int store(const std::string& key, std::string_view bytes, std::string& problem) {
    const folder root = open_root(if_absent::make);
    problem = root.problem;
    if (!root.open) return EACCES;
    const folder shelf = open_shelf(root, shelf_of(key), if_absent::make);
    problem = shelf.problem.empty() ? "it vanished" : fmt::format("folder {}: {}", shelf_of(key), shelf.problem);
    if (!shelf.open) return shelf.problem.empty() ? ENOENT : EACCES;

    const int failure = replace_file(shelf.open.get(), name_of(key), bytes);
    problem = failure ? fmt::format("cannot be written: {}", reason(failure)) : "";
    return failure;
}

} // namespace

std::optional<cache_record> read_cached(const std::string& key) {
    const folder root = open_root(if_absent::leave);
    if (!root.problem.empty()) warn_of_cache(root.problem);
    if (!root.open) return std::nullopt;
    const folder shelf = open_shelf(root, shelf_of(key), if_absent::leave);
    if (!shelf.problem.empty()) warn_of_cache(fmt::format("folder {}: {}", shelf_of(key), shelf.problem));
    if (!shelf.open) return std::nullopt;

    const cached_file found = read_file(shelf.open.get(), name_of(key));
    if (!found.problem.empty())
        warn_of_cache(fmt::format("file {}/{}: {}", shelf_of(key), name_of(key), found.problem));
    if (!found.bytes) return std::nullopt;
    auto record = decode(*found.bytes);
    if (record && record->key == key) {
        mark_used(found.open.get(), found.status);
        return record;
    }
    unlinkat(shelf.open.get(), name_of(key).c_str(), 0);
    return std::nullopt;
}

void write_cached(const cache_record& record) {
    const std::string bytes = encode(record);
    std::string problem;
    int failure = store(record.key, bytes, problem);
    if (failure == ENOENT)
        failure = store(record.key, bytes, problem); // somebody cleared the cache between two calls
    if (failure) return warn_of_cache(problem);
    keep_to_capacity(bytes.size());
}

void remove_cached(const std::string& key) {
    const folder root = open_root(if_absent::leave);
    if (!root.open) return;
    const folder shelf = open_shelf(root, shelf_of(key), if_absent::leave);
    if (shelf.open) unlinkat(shelf.open.get(), name_of(key).c_str(), 0);
}

} // namespace ricci::runtime
