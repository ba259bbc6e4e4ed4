// tuning_database: what was measured on a chip, beside the kernel cache on disk.
#include "runtime/tuning_database.hpp"

#include "kernels/embedded.hpp"
#include "lowering/error.hpp"
#include "runtime/cache_folder.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/tuning_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <map>
#include <sys/file.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;

void warn_of_tuning(const std::string& file, const std::string& problem) {
    static std::atomic<bool> said = false;
    if (!said.exchange(true))
        fmt::print(stderr, "ricci: tuning database {}: {}; going on without it\n",
                   (cache_directory() / tuning_shelf / file).string(), problem);
}

/// Letters, digits, dots and hyphens stay; the rest becomes '_'.
std::string plain(std::string_view name) {
    std::string out;
    for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' ? c : '_';
    return out;
}

/// Holds the shelf's lock while it lives, if the file system has locks and nobody keeps it for long: two writers at
/// once would only lose entries, so it is not worth waiting for more than a moment.
class shelf_lock {
  public:
    explicit shelf_lock(int shelf) : shelf_(shelf) {
        constexpr int tries = 100;
        for (int n = 0; n < tries && !held_; ++n) {
            held_ = flock(shelf, LOCK_EX | LOCK_NB) == 0;
            if (!held_ && errno != EWOULDBLOCK && errno != EINTR) return;
            if (!held_) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    ~shelf_lock() {
        if (held_) flock(shelf_, LOCK_UN);
    }
    shelf_lock(const shelf_lock&) = delete;
    shelf_lock& operator=(const shelf_lock&) = delete;

  private:
    int shelf_;
    bool held_ = false;
};

/// What stands in the file; nothing, with `problem` set or not, where it cannot be read or is not there.
std::optional<tuning_file> read_from(const folder& shelf, const std::string& name, std::string& problem) {
    if (!shelf.open) return problem = shelf.problem, std::nullopt;
    const auto file = read_file(shelf.open.get(), name);
    problem = file.problem;
    if (!file.bytes) return std::nullopt;
    auto out = read_tuning(*file.bytes);
    problem = out.problem;
    return out;
}

/// Of the cache's own folder the kernel cache speaks.
folder open_tuning(if_absent absent) {
    const folder root = open_root(absent);
    if (!root.open && absent == if_absent::make) warn_of_cache(root.problem);
    if (!root.open) return {descriptor(), ""};
    return open_shelf(root, std::string(tuning_shelf), absent);
}

/// The shipped tables for `chip`, the most general first: "avx512.json", "avx512-AMD.json", "avx512-AMD_EPYC.json"...
/// A table is for every chip whose name begins with the words of its own.
std::vector<std::string> shipped_names(const machine& chip) {
    const auto tables = plain(tables_of(chip)), model = plain(model_of(chip));
    std::vector<std::string> out{fmt::format("{}.json", tables)};
    for (std::size_t end = 0; end < model.size();) {
        end = std::min(model.find('_', end + 1), model.size());
        out.push_back(fmt::format("{}-{}.json", tables, model.substr(0, end)));
    }
    return out;
}

} // namespace

tuning_database::tuning_database(const machine& chip)
    : chip_(chip), file_name_(fmt::format("{}-{}.json", plain(tables_of(chip)), plain(model_of(chip)))) {}

void tuning_database::load() {
    if (measured_) return;
    auto table = std::make_shared<tuning_table>();
    if (cache_capacity() > 0) {
        std::string problem;
        const auto found = read_from(open_tuning(if_absent::leave), file_name_, problem);
        if (!problem.empty()) warn_of_tuning(file_name_, problem);
        if (found) *table = found->table;
        writable_ = !found || !found->newer;
    }
    measured_ = std::move(table);
}

std::shared_ptr<const tuning_table> tuning_database::measured() {
    const std::lock_guard lock(mutex_);
    load();
    return measured_;
}

std::shared_ptr<const tuning_table> tuning_database::shipped() {
    const std::lock_guard lock(mutex_);
    if (!shipped_) {
        auto table = std::make_shared<tuning_table>();
        // What was measured on chips more like this one stands above.
        for (const auto& name : shipped_names(chip_)) {
            const auto text = kernels::source_file(fmt::format("tuned/{}", name));
            if (text.empty()) continue;
            const auto file = read_tuning(text);
            if (!file.problem.empty())
                throw error(fmt::format("the tuning table {} in this build: {}", name, file.problem),
                            blame::environment);
            for (const auto& [key, best] : file.table.entries()) table->put(key, best);
        }
        shipped_ = std::move(table);
    }
    return shipped_;
}

void tuning_database::keep(const tuning_table& found) {
    if (found.entries().empty()) return;
    const std::lock_guard lock(mutex_);
    load();
    auto table = std::make_shared<tuning_table>(*measured_);
    const auto add = [&](const tuning_table& from) {
        for (const auto& [key, best] : from.entries()) table->put(key, best);
    };
    if (writable_ && cache_capacity() > 0) {
        const folder shelf = open_tuning(if_absent::make);
        std::string problem = shelf.problem;
        if (shelf.open) {
            const shelf_lock alone(shelf.open.get());
            // Of other processes: theirs are as new as what was loaded, or newer.
            if (const auto now = read_from(shelf, file_name_, problem); now && now->newer)
                writable_ = false;
            else if (now)
                add(now->table);
            add(found);
            const int failure =
                writable_ ? replace_file(shelf.open.get(), file_name_, write_tuning(*table, chip_)) : 0;
            if (writable_)
                problem = failure == 0
                              ? ""
                              : fmt::format("cannot be written: {}", std::generic_category().message(failure));
        }
        if (!problem.empty()) warn_of_tuning(file_name_, problem);
    }
    add(found);
    measured_ = std::move(table);
}

std::string tuning_database::problem() {
    if (cache_capacity() == 0) return "RICCI_CACHE_SIZE is 0";
    const auto of_folder = [](const std::string& what) {
        return fmt::format("the cache's folder {}: {}", cache_directory().string(), what);
    };
    if (const auto found = cache_problem(); !found.empty()) return of_folder(found);
    const folder shelf = open_tuning(if_absent::leave);
    const auto of_shelf = [&](const std::string& what) {
        return of_folder(fmt::format("{}: {}", tuning_shelf, what));
    };
    if (!shelf.problem.empty()) return of_shelf(shelf.problem);
    if (shelf.open && faccessat(shelf.open.get(), ".", W_OK | X_OK, AT_EACCESS) != 0)
        return of_shelf(fmt::format("cannot be written: {}", std::generic_category().message(errno)));
    const std::lock_guard lock(mutex_);
    load();
    return writable_ ? "" : of_shelf(fmt::format("a later version of ricci wrote {}", file_name_));
}

tuning_database& tuning_database_of(const machine& chip) {
    static std::mutex mutex;
    static auto& all = *new std::map<std::string, tuning_database>; // as long as the process, like the kernels
    const std::lock_guard lock(mutex);
    return all.try_emplace(tables_of(chip) + '\n' + model_of(chip), chip).first->second;
}

} // namespace ricci::runtime
