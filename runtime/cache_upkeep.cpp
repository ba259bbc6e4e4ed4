// cache_upkeep: keeps the cache's directory within its capacity, lists it and clears it.
#include "runtime/cache_upkeep.hpp"

#include "runtime/cache_file.hpp"
#include "runtime/cache_folder.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/tuning_database.hpp"

#include <algorithm>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <string_view>
#include <unistd.h>

namespace ricci::runtime {

namespace {

constexpr std::time_t stale = 3600; ///< seconds after which a temporary file's writer is taken for dead
constexpr int writes_between_looks = 64;

bool is_hexadecimal(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == text.npos; }
/// The tuning database's folder too: killed processes leave files there as well.
bool is_shelf(std::string_view name) { return (name.size() == 2 && is_hexadecimal(name)) || name == tuning_shelf; }
bool is_entry(std::string_view name) {
    constexpr std::string_view suffix = ".kernel";
    return name.size() == 62 + suffix.size() && name.ends_with(suffix) && is_hexadecimal(name.substr(0, 62));
}
bool is_temporary(std::string_view name) {
    return name.starts_with("tmp-") && name.find_first_not_of("0123456789-.", 4) == name.npos;
}

/// The names in an open directory.
std::vector<std::string> names_in(int directory) {
    std::vector<std::string> names;
    const int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); // closedir will close it
    const std::unique_ptr<DIR, int (*)(DIR*)> open(own < 0 ? nullptr : fdopendir(own),
                                                   [](DIR* d) { return closedir(d); });
    if (!open) return names;
    while (const dirent* item = readdir(open.get())) names.emplace_back(item->d_name);
    return names;
}

/// Calls visit(shelf's name, shelf's descriptor, file's name) for every file in the shelves.
template <class Visit>
void for_each_file(const folder& root, Visit visit) {
    for (const std::string& digits : names_in(root.open.get())) {
        if (!is_shelf(digits)) continue;
        const folder shelf = open_shelf(root, digits, if_absent::leave);
        if (!shelf.open) continue;
        for (const std::string& name : names_in(shelf.open.get())) visit(digits, shelf.open.get(), name);
    }
}

struct item {
    timespec used;
    std::uint64_t bytes;
    std::string shelf, name;
};

std::optional<struct stat> status_of(int shelf, const std::string& name) {
    struct stat status {};
    const bool regular = fstatat(shelf, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
    return regular ? std::optional(status) : std::nullopt;
}

/// Removes what is too old or too much; returns the bytes that are left.
std::uint64_t look_through(const folder& root, std::uint64_t capacity) {
    std::vector<item> items;
    std::uint64_t total = 0;
    for_each_file(root, [&](const std::string& digits, int shelf, const std::string& name) {
        if (!is_entry(name) && !is_temporary(name)) return;
        const auto status = status_of(shelf, name);
        if (!status) return;
        if (is_temporary(name)) {
            if (std::time(nullptr) - status->st_mtim.tv_sec > stale) unlinkat(shelf, name.c_str(), 0);
            return;
        }
        total += static_cast<std::uint64_t>(status->st_size);
        items.push_back({status->st_mtim, static_cast<std::uint64_t>(status->st_size), digits, name});
    });
    if (total <= capacity) return total;
    std::sort(items.begin(), items.end(), [](const item& a, const item& b) {
        return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
    });
    const std::uint64_t goal = capacity / 10 * 9; // a tenth of room, so that not every write evicts
    for (const item& oldest : items) {
        if (total <= goal) break;
        if (unlinkat(root.open.get(), (oldest.shelf + '/' + oldest.name).c_str(), 0) == 0) total -= oldest.bytes;
    }
    return total;
}

} // namespace

void keep_to_capacity(std::uint64_t written) {
    static std::mutex mutex;
    static std::uint64_t total = 0;
    static int until_look = 0; // other processes write too, and the first write of this one knows nothing
    const std::lock_guard lock(mutex);
    total += written;
    const std::uint64_t capacity = cache_capacity();
    if (until_look-- > 0 && total <= capacity) return;
    until_look = writes_between_looks;
    const folder root = open_root(if_absent::leave);
    if (root.open) total = look_through(root, capacity);
}

std::vector<cache_entry> list_cache() {
    std::vector<cache_entry> entries;
    const folder root = open_root(if_absent::leave);
    if (!root.open) return entries;
    for_each_file(root, [&](const std::string& digits, int shelf, const std::string& name) {
        if (!is_entry(name)) return;
        const cached_file file = read_file(shelf, name);
        const auto record = file.bytes ? decode(*file.bytes) : std::nullopt;
        if (record && record->key == digits + name.substr(0, 62))
            entries.push_back({cache_directory() / digits / name, record->key, record->entry, record->options,
                               file.bytes->size(), file.status.st_mtim.tv_sec});
    });
    std::sort(entries.begin(), entries.end(),
              [](const cache_entry& a, const cache_entry& b) { return a.last_used > b.last_used; });
    return entries;
}

std::int64_t clear_cache() {
    std::int64_t removed = 0;
    const folder root = open_root(if_absent::leave);
    if (!root.open) return removed;
    for_each_file(root, [&](const std::string&, int shelf, const std::string& name) {
        const auto status = is_entry(name) || is_temporary(name) ? status_of(shelf, name) : std::nullopt;
        if (!status || status->st_uid != geteuid()) return;
        if (is_entry(name))
            removed += unlinkat(shelf, name.c_str(), 0) == 0;
        else if (std::time(nullptr) - status->st_mtim.tv_sec > stale)
            unlinkat(shelf, name.c_str(), 0);
    });
    for (const std::string& digits : names_in(root.open.get()))
        if (is_shelf(digits)) unlinkat(root.open.get(), digits.c_str(), AT_REMOVEDIR); // only if empty
    return removed;
}

} // namespace ricci::runtime
