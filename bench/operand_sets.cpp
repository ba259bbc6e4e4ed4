// operand_sets: memory for the operands of a statement.
#include "bench/operand_sets.hpp"

#include "bench/cpu_facts.hpp"

#include <ricci/lowering/error.hpp>

#include <algorithm>

namespace ricci::bench {

namespace {

constexpr std::int64_t alignment = 512; ///< of an allocation of its own
constexpr std::int64_t large = std::int64_t{2}
                               << 20; ///< an operand of this size gets pages of its own, as by an allocator
constexpr std::int64_t beyond_caches = 256'000'000; ///< twice the largest L2 of today's GPUs
constexpr std::int64_t most_sets = 256;

std::int64_t round_up(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

} // namespace

operand_sets::operand_sets(const work& w, device where, std::int64_t offset, bool only_one, device_memory& memory) {
    std::vector<std::int64_t> begins;
    std::int64_t set_bytes = 0;
    for (const work_operand& operand : w.operands) {
        const std::int64_t size = lowering::size_of(operand.type);
        std::int64_t bytes = 0;
        if (__builtin_mul_overflow(operand.elements + offset, size, &bytes) || bytes > (std::int64_t{1} << 60))
            throw error("an operand does not fit in 64 bits");
        set_bytes = round_up(set_bytes, bytes >= large ? large : alignment);
        begins.push_back(set_bytes + offset * size);
        set_bytes += bytes;
    }
    set_bytes = round_up(set_bytes, set_bytes >= large ? large : alignment);
    const std::int64_t beyond = where.is_cpu() ? std::max(beyond_caches, beyond_cpu_caches()) : beyond_caches;
    const std::int64_t sets = only_one ? 1 : std::clamp<std::int64_t>((beyond - 1) / set_bytes + 1, 1, most_sets);

    const auto needed = static_cast<std::size_t>(round_up(sets * set_bytes, large) + large);
    if (memory.bytes() < needed) {
        memory = {}; // freed before the larger one is taken
        memory = device_memory(where, needed);
    }
    const auto start = round_up(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory.data())), large);
    for (std::int64_t s = 0; s < sets; ++s) {
        auto& set = addresses_.emplace_back();
        for (const std::int64_t begin : begins) set.push_back(reinterpret_cast<void*>(start + s * set_bytes + begin));
    }
}

random_numbers numbers_of(const work_operand& operand, std::size_t number, std::size_t set) {
    return random_numbers_of(operand.type, 1 + number + 16 * set, operand.size);
}

} // namespace ricci::bench
