// same_memory: which sources of a plan's operands may be the same memory.
#include "lowering/same_memory.hpp"

namespace ricci::lowering {
namespace {

std::int32_t in(const std::vector<std::int32_t>& known, std::int32_t source) {
    return source < 0 || known.empty() ? source : known[static_cast<std::size_t>(source)];
}

} // namespace

std::int32_t memory_of(const plan& p, std::int32_t source) { return in(p.memory_of_access, source); }

bool may_share_memory(const plan& p, std::int32_t a, std::int32_t b) {
    return memory_of(p, a) == memory_of(p, b) || in(p.same_access, a) == in(p.same_access, b);
}

} // namespace ricci::lowering
