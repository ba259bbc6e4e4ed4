// chain_constants: which matrices of a chain a GPU's kernel has among its constants.
#include "lowering/chain_constants.hpp"

#include "lowering/chain_layout.hpp"
#include "lowering/chain_shape.hpp"

#include <algorithm>
#include <limits>

namespace ricci::lowering {
namespace {

/// Of the 64 KB that a kernel may have: as many as an SM's caches of constants keep at hand beside its instructions.
constexpr std::int64_t most_bytes = 16 << 10;
/// Written out in all phases: a compiler's time (NVRTC takes 0.1 ms for each), and an SM's cache of instructions.
constexpr std::int64_t most_multiply_adds = 4000;
/// The copies before a kernel take as long as a launch, each; the kernel should take longer by far.
constexpr double least_launches = 10;

chain_reach reach_of(const chain_matrix& m) {
    chain_reach out{m.offset, m.offset};
    out.go_along(m.stream, m.stream_extent), out.go_along(m.inner, m.inner_extent);
    return out;
}

std::int64_t multiply_adds(const chain& c) {
    std::int64_t out = 0;
    for (const auto& ph : c.phases) out += ph.multiply_adds();
    return out * (is_complex(c.compute) ? 4 : 1);
}

} // namespace

void choose_constants(chain& c, const machine& chip) {
    if (chip.kind != target::cuda || multiply_adds(c) > most_multiply_adds ||
        chain_seconds(c, chip) < least_launches * chip.launch_seconds)
        return;
    const auto most = most_bytes / size_of(c.compute);
    std::size_t copies = 0;
    for (std::size_t n = 0; n < c.memories.size() && copies < most_constant_memories; ++n) {
        auto& memory = c.memories[n];
        if (memory.type != c.compute) continue;
        chain_reach all{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
        for (const auto& m : c.matrices) {
            if (m.memory != static_cast<std::int32_t>(n)) continue;
            const auto own = reach_of(m);
            all = {std::min(all.first, own.first), std::max(all.last, own.last)};
        }
        if (all.first > all.last || c.constants + all.last - all.first >= most) continue;
        memory.constant = c.constants;
        memory.constant_first = all.first, memory.constant_count = all.last - all.first + 1;
        ++copies;
        c.constants += static_cast<std::int32_t>(memory.constant_count);
    }
}

} // namespace ricci::lowering
