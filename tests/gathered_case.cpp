// gathered_case: index tables for test cases: their entries, and plain positions turned into gathered ones.
#include "tests/gathered_case.hpp"

#include "lowering/print.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

namespace ricci::tests {
namespace {

using namespace lowering;

position& position_of(statement& s, std::size_t a, std::int32_t p) {
    return s.positions[static_cast<std::size_t>(s.accesses[a].first_position + p)];
}

/// A table instead of position `p`, of which it has extent and terms.
access& add_table(random_case& c, std::size_t a, std::int32_t p, scalar_type type) {
    auto& s = c.s;
    const auto old = position_of(s, a, p);
    c.memory.emplace_back(static_cast<std::size_t>(old.extent * size_of(type)));
    access table;
    table.type = type;
    table.data = c.memory.back().data();
    table.device = s.accesses[a].device;
    table.first_position = static_cast<std::int32_t>(s.positions.size());
    table.position_count = 1;
    s.positions.push_back(old);
    s.positions.back().stride = 1;
    auto& gathered = position_of(s, a, p);
    gathered.offset = 0, gathered.term_count = 0;
    gathered.table = static_cast<std::int32_t>(s.accesses.size());
    s.accesses.push_back(table);
    return s.accesses.back();
}

} // namespace

void fill_tables(const statement& s, std::mt19937_64& random) {
    for (std::size_t t = 0; t < s.accesses.size(); ++t) {
        const auto& table = s.accesses[t];
        if (table.type != scalar_type::i32 && table.type != scalar_type::i64) continue;
        std::int64_t extent = std::numeric_limits<std::int64_t>::max();
        bool distinct = false;
        for (const auto& p : s.positions)
            if (p.is_gathered() && s.accesses[static_cast<std::size_t>(p.table)].data == table.data)
                extent = std::min(extent, p.extent), distinct |= p.distinct;
        std::vector<std::int64_t> offsets{0};
        for (int p = 0; p < table.position_count; ++p) {
            const auto& position = s.positions[static_cast<std::size_t>(table.first_position + p)];
            std::vector<std::int64_t> longer;
            for (std::int64_t i = 0; i < position.extent; ++i)
                for (const auto o : offsets) longer.push_back(o + i * position.stride);
            offsets = std::move(longer);
        }
        std::vector<std::int64_t> all(static_cast<std::size_t>(distinct ? extent : 0));
        std::iota(all.begin(), all.end(), 0);
        std::shuffle(all.begin(), all.end(), random);
        for (std::size_t n = 0; n < offsets.size(); ++n) {
            const auto entry =
                distinct ? all.at(n) : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
            const auto narrow = static_cast<std::int32_t>(entry);
            auto* const at = static_cast<std::byte*>(table.data) + offsets[n] * size_of(table.type);
            std::memcpy(at, table.type == scalar_type::i32 ? static_cast<const void*>(&narrow) : &entry,
                        static_cast<std::size_t>(size_of(table.type)));
        }
    }
}

void gather_by_table(random_case& c, std::size_t a, std::int32_t p, scalar_type type, std::mt19937_64& random) {
    const auto& table = add_table(c, a, p, type);
    // On the left entries may be equal where they add up, sometimes by atomics.
    const auto kind = a == 0 && c.s.op != assignment::assign ? random() % 4 : 0;
    position_of(c.s, a, p).distinct = a == 0 && kind == 0;
    position_of(c.s, a, p).atomic = kind == 1;
    statement only; // whose tables are filled
    only.accesses = {c.s.accesses[a], table};
    only.positions = c.s.positions;
    for (auto& q : only.positions) q.table = no_table;
    auto& gathered = position_of(only, 0, p);
    gathered.table = 1, gathered.distinct = position_of(c.s, a, p).distinct;
    fill_tables(only, random);
    c.text += to_string(c.s) + "\n";
}

void gather_by_address(random_case& c, std::size_t a, std::int32_t p) {
    const auto before = position_of(c.s, a, p);
    auto* const data = static_cast<std::byte*>(c.s.accesses[a].data);
    const auto size = size_of(c.s.accesses[a].type);
    auto* const entries = static_cast<std::byte*>(add_table(c, a, p, scalar_type::address).data);
    for (std::int64_t i = 0; i < before.extent; ++i) {
        const std::byte* const address = data + i * before.stride * size;
        std::memcpy(entries + i * static_cast<std::int64_t>(sizeof address), &address, sizeof address);
    }
    c.s.accesses[a].data = nullptr;
    position_of(c.s, a, p).stride = 0;
    c.text += "by address: " + to_string(c.s) + "\n";
}

} // namespace ricci::tests
