// gathers: what passes ask of operands whose positions index tables give.
#include "lowering/gathers.hpp"

#include "lowering/temporaries.hpp"

#include <algorithm>
#include <map>

namespace ricci::lowering {
namespace {

constexpr std::int64_t far_apart = std::int64_t{1} << 40;

const operand& table_of(const step& st, const gather& g) { return st.operands[static_cast<std::size_t>(g.table)]; }

} // namespace

bool is_gathered(const step& st) {
    return std::any_of(st.operands.begin(), st.operands.end(), [](const operand& o) { return !o.gathers.empty(); });
}

collision collision_of(const step& st) {
    auto out = collision::none;
    for (const auto& g : st.operands[0].gathers) out = std::max(out, g.equal);
    return out;
}

const operand* table_of_addresses(const step& st, const operand& o) {
    for (const auto& g : o.gathers)
        if (table_of(st, g).type == scalar_type::address) return &table_of(st, g);
    return nullptr;
}

bool is_gathered_along(const step& st, const operand& o, std::size_t axis) {
    return std::any_of(o.gathers.begin(), o.gathers.end(),
                       [&](const gather& g) { return table_of(st, g).present[axis] != 0; });
}

bool is_gathered_by_batch(const step& st) {
    for (const auto& o : st.operands) {
        if (o.gathers.size() > 1) return false;
        for (const auto& g : o.gathers)
            for (std::size_t a = 0; a < st.classes.size(); ++a)
                if (table_of(st, g).present[a] && st.classes[a] != axis_class::batch) return false;
    }
    return true;
}

std::int64_t most_elements(const step& st, const operand& o) {
    const auto all = element_count(st.axes, o.present);
    if (o.gathers.empty() || table_of_addresses(st, o) != nullptr) return all;
    auto own = o.present;
    for (std::size_t a = 0; a < own.size(); ++a)
        if (o.stride[a] == 0 && is_gathered_along(st, o, a)) own[a] = 0;
    auto positions = element_count(st.axes, own);
    for (const auto& g : o.gathers)
        if (__builtin_mul_overflow(positions, g.extent, &positions)) return all;
    return std::min(all, positions);
}

operand nominal(const step& st, const operand& o) {
    operand out = o;
    out.gathers.clear();
    for (const auto& g : o.gathers) {
        const auto& table = table_of(st, g);
        const auto each = table.type == scalar_type::address ? far_apart : g.stride;
        for (std::size_t a = 0; a < out.stride.size(); ++a) {
            std::int64_t step = 0;
            if (__builtin_mul_overflow(each, table.stride[a], &step) ||
                __builtin_add_overflow(out.stride[a], step, &out.stride[a]))
                out.stride[a] = far_apart;
        }
    }
    return out;
}

void take_tables(step& out, const step& from) {
    std::map<std::int32_t, std::int32_t> number;
    for (std::size_t o = 0; o < out.operands.size(); ++o)
        for (std::size_t g = 0; g < out.operands[o].gathers.size(); ++g) {
            auto& table = out.operands[o].gathers[g].table;
            const auto old = table;
            const auto [found, is_new] = number.try_emplace(old, static_cast<std::int32_t>(out.operands.size()));
            table = found->second;
            if (is_new) out.operands.push_back(from.operands[static_cast<std::size_t>(old)]);
        }
}

} // namespace ricci::lowering
