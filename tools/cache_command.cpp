// cache_command: where the compiled kernels are kept, which there are, and removing them.
#include "tools/commands.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/kernel_cache.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace ricci::tools {

namespace {

std::filesystem::path directory() {
    const auto path = runtime::cache_directory();
    if (path.empty())
        throw error("there is no cache directory: set RICCI_CACHE_DIR, XDG_CACHE_HOME or HOME", blame::environment);
    return path;
}

void check_cache() {
    const auto path = directory();
    if (const std::string problem = runtime::cache_problem(); !problem.empty())
        throw error(fmt::format("the cache directory {} is not used: {}", path.string(), problem),
                    blame::environment);
}

} // namespace

int cache_path_command() {
    fmt::print("{}\n", directory().string());
    return 0;
}

int cache_list_command() {
    check_cache();
    std::uint64_t bytes = 0;
    const auto entries = runtime::list_cache();
    for (const auto& e : entries) {
        fmt::print("{:.12}  {:%Y-%m-%d %H:%M}  {:>9}  {}  {}\n", e.key,
                   fmt::localtime(static_cast<std::time_t>(e.last_used)), e.bytes, e.entry, e.architecture);
        bytes += e.bytes;
    }
    fmt::print("{} kernels, {} bytes\n", entries.size(), bytes);
    return 0;
}

int cache_clear_command() {
    check_cache();
    fmt::print("{} kernels removed\n", runtime::clear_cache());
    return 0;
}

} // namespace ricci::tools
