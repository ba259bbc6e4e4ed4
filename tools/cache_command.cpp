// cache_command: where the compiled kernels are kept, which there are, and removing them.
#include "tools/commands.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/kernel_cache.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

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

std::string kernels(std::int64_t count) { return fmt::format("{} kernel{}", count, count == 1 ? "" : "s"); }

/// What a kernel runs on, from the options that its compiler got: "sm_90" of NVRTC's --gpu-architecture=sm_90, else
/// the first word of the CPU's features, which stand last, in parentheses: "x86-64".
std::string_view target_of(std::string_view options) {
    constexpr std::string_view gpu = "--gpu-architecture=";
    const std::size_t flag = options.find(gpu), features = options.rfind('(');
    if (flag != options.npos)
        options.remove_prefix(flag + gpu.size());
    else if (features != options.npos)
        options.remove_prefix(features + 1);
    return options.substr(0, options.find_first_of(" )"));
}

} // namespace

int cache_path_command() {
    fmt::print("{}\n", directory().string());
    return 0;
}

int cache_list_command(bool verbose) {
    check_cache();
    std::uint64_t bytes = 0;
    const auto entries = runtime::list_cache();
    const int key_width = verbose ? 64 : 12;
    if (!entries.empty())
        fmt::print("{:<{}}  {:<16}  {:>9}  {:<24}  {}\n", "hash", key_width, "last used", "bytes", "kernel", "for");
    for (const auto& e : entries) {
        fmt::print("{:.{}}  {:%Y-%m-%d %H:%M}  {:>9}  {:<24}  {}\n", e.key, key_width,
                   fmt::localtime(static_cast<std::time_t>(e.last_used)), e.bytes, e.entry,
                   target_of(e.architecture));
        if (verbose) fmt::print("    {}\n", e.architecture);
        bytes += e.bytes;
    }
    fmt::print("{}, {} bytes\n", kernels(static_cast<std::int64_t>(entries.size())), bytes);
    return 0;
}

int cache_clear_command() {
    check_cache();
    fmt::print("{} removed\n", kernels(runtime::clear_cache()));
    return 0;
}

} // namespace ricci::tools
