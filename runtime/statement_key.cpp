// statement_key: all of a statement that its plan depends on, as words to hash and compare.
#include "runtime/statement_key.hpp"

#include <algorithm>

namespace ricci::runtime {
namespace {

using namespace lowering;

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

struct byte_span {
    std::int64_t begin, end;
};

/// The bytes that the whole tensor behind an access spans; wraps for sizes that lowering refuses.
byte_span span_of(const statement& s, const access& a) {
    std::uint64_t low = 0, high = 0;
    for (int p = 0; p < a.position_count; ++p) {
        const auto& position = s.positions[static_cast<std::size_t>(a.first_position + p)];
        const auto reach = word(position.stride) * word(position.extent - 1);
        (position.stride < 0 ? low : high) += reach;
    }
    const auto base = reinterpret_cast<std::uintptr_t>(a.data);
    const auto size = word(size_of(a.type));
    return {static_cast<std::int64_t>(base + low * size), static_cast<std::int64_t>(base + (high + 1) * size)};
}

void write_header(const statement& s, key_words& key) {
    key.clear();
    key.push_back(static_cast<std::uint64_t>(s.op) | s.accesses.size() << 8 | s.labels.size() << 24 | s.nodes.size() << 40);
    for (const auto& n : s.nodes)
        key.push_back(static_cast<std::uint64_t>(n.kind) << 56 | static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.a) & 0xfffffffu) << 28 |
                      (static_cast<std::uint32_t>(n.b) & 0xfffffffu));
    std::uint64_t complex = s.scalars.size();
    for (const auto& x : s.scalars) complex = complex << 1 | (complex >> 63) | (x.complex ? 1u : 0u);
    key.push_back(complex);
}

void write_access_header(const access& a, key_words& key) {
    key.push_back(static_cast<std::uint64_t>(a.type) | (a.padded ? 1u << 8 : 0u) | (a.local != no_local ? 1u << 9 : 0u) |
                  (a.data == nullptr ? 1u << 10 : 0u) | word(a.position_count) << 16 | word(a.device) << 32);
}

} // namespace

void write_key(const statement& s, key_words& key) {
    write_header(s, key);
    for (const auto& l : s.labels) key.push_back(word(l.begin)), key.push_back(word(l.end));
    for (const auto& a : s.accesses) {
        write_access_header(a, key);
        for (int p = 0; p < a.position_count; ++p) {
            const auto& position = s.positions[static_cast<std::size_t>(a.first_position + p)];
            key.push_back(word(position.extent));
            key.push_back(word(position.stride));
            key.push_back(word(position.offset));
            key.push_back(word(position.term_count));
            for (int t = 0; t < position.term_count; ++t) {
                const auto& term = s.terms[static_cast<std::size_t>(position.first_term + t)];
                key.push_back(word(term.label));
                key.push_back(word(term.coefficient));
            }
        }
    }
    const auto left = span_of(s, s.accesses[0]);
    for (std::size_t n = 1; n < s.accesses.size(); ++n) {
        const auto& a = s.accesses[n];
        const auto span = span_of(s, a);
        const bool apart = a.local != s.accesses[0].local || span.end <= left.begin || left.end <= span.begin;
        key.push_back(apart);
        key.push_back(apart ? 0 : reinterpret_cast<std::uintptr_t>(a.data) - reinterpret_cast<std::uintptr_t>(s.accesses[0].data));
    }
}

void write_shapeless_key(const statement& s, key_words& key) {
    write_header(s, key);
    for (const auto& l : s.labels) key.push_back(l.has_range());
    for (const auto& a : s.accesses) {
        write_access_header(a, key);
        for (int p = 0; p < a.position_count; ++p) {
            const auto& position = s.positions[static_cast<std::size_t>(a.first_position + p)];
            key.push_back(word(position.term_count));
            for (int t = 0; t < position.term_count; ++t)
                key.push_back(word(s.terms[static_cast<std::size_t>(position.first_term + t)].label));
        }
    }
}

} // namespace ricci::runtime
