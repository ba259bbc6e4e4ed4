// same_memory: which sources of a plan's operands may be the same memory.
#include "lowering/same_memory.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

std::int32_t in(const std::vector<std::int32_t>& known, std::int32_t source) {
    return source < 0 || known.empty() ? source : known[static_cast<std::size_t>(source)];
}

} // namespace

std::int32_t memory_of(const plan& p, std::int32_t source) { return in(p.memory_of_access, source); }

std::int32_t same_tensor(const plan& p, std::int32_t source) { return in(p.same_access, source); }

bool may_share_memory(const plan& p, std::int32_t a, std::int32_t b) {
    return memory_of(p, a) == memory_of(p, b) || same_tensor(p, a) == same_tensor(p, b);
}

bool may_meet(const plan& p, const operand& o, std::int32_t memory) {
    return o.type == scalar_type::address || memory_of(p, o.source) == memory;
}
bool may_meet(const plan& p, const step& st, std::int32_t memory) {
    return std::any_of(st.operands.begin(), st.operands.end(),
                       [&](const operand& o) { return may_meet(p, o, memory); });
}

} // namespace ricci::lowering
