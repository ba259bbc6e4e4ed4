// cpu_facts: what Linux tells of its processor.
#include "bench/cpu_facts.hpp"

#include "bench/in_parallel.hpp"

#include <ricci/lowering/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include <unistd.h>

namespace ricci::bench {

namespace {

/// From sysfs, as "2048K"; not every C library knows the caches of every processor.
std::int64_t listed_cache_bytes(int level) {
    for (int index = 0; index < 8; ++index) {
        const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
        int its_level = 0;
        std::string kind;
        std::ifstream(folder + "level") >> its_level;
        std::ifstream(folder + "type") >> kind;
        if (its_level != level || kind == "Instruction") continue;
        std::int64_t size = 0;
        char unit = 0;
        std::ifstream(folder + "size") >> size >> unit;
        return size * (unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1);
    }
    return 0;
}

} // namespace

std::int64_t cache_bytes(int level) {
    const long known = sysconf(level == 1   ? _SC_LEVEL1_DCACHE_SIZE
                               : level == 2 ? _SC_LEVEL2_CACHE_SIZE
                                            : _SC_LEVEL3_CACHE_SIZE);
    return known > 0 ? known : listed_cache_bytes(level);
}

std::int64_t memory_bytes() {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
}

std::int64_t beyond_cpu_caches() {
    const std::int64_t last = std::max(cache_bytes(2), cache_bytes(3)), memory = memory_bytes();
    return memory > 0 ? std::min(2 * last, memory / 8) : 2 * last;
}

std::int64_t in_cache_bytes(device where) {
    if (!where.is_cpu())
        throw error("--in-cache measures a CPU, whose L2 a batch can stay in; on a GPU, --warm-cache keeps to one "
                    "set of operands");
    const std::int64_t l2 = cache_bytes(2);
    if (l2 == 0) throw error("--in-cache: this system does not say how large its L2 cache is", blame::environment);
    return l2 / 2 * thread_count();
}

} // namespace ricci::bench
