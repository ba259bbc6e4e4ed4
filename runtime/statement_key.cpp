// statement_key: all of a statement that its plan depends on, as words to hash and compare.
#include "runtime/statement_key.hpp"

#include "lowering/byte_span.hpp"

#include <utility>

namespace ricci::runtime {
namespace {

using namespace lowering;

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

void write_call(const matrix_call& c, key_words& key) {
    key.push_back(static_cast<std::uint64_t>(c.what) | (c.conjugated ? 1u << 8 : 0u) | (c.unpivoted ? 1u << 9 : 0u) |
                  (c.positive ? 1u << 10 : 0u) | (c.upper ? 1u << 11 : 0u) | (c.unit ? 1u << 12 : 0u) |
                  (c.adjoint ? 1u << 13 : 0u) | word(c.row + 1) << 16 | word(c.column + 1) << 32);
    for (const auto a : c.access) key.push_back(word(a));
}

void write_header(const statement& s, key_words& key) {
    for (const auto count : {static_cast<std::size_t>(s.op) | static_cast<std::size_t>(s.math) << 8,
                             s.accesses.size(), s.labels.size(), s.nodes.size(), s.scalars.size()})
        key.push_back(count);
    for (const auto& n : s.nodes)
        key.push_back(static_cast<std::uint64_t>(n.kind) << 56 |
                      static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.a) & 0xfffffffu) << 28 |
                      (static_cast<std::uint32_t>(n.b) & 0xfffffffu));
    if (s.is_call()) write_call(s.call, key);
    std::uint64_t flags = 0;
    for (std::size_t n = 0; n < s.scalars.size(); ++n) {
        flags = flags << 1 | (s.scalars[n].complex ? 1u : 0u);
        if (n % 64 == 63 || n + 1 == s.scalars.size()) key.push_back(std::exchange(flags, 0));
    }
}

/// The first operand that has the data of access n: the left and an operand may be gathered by one table, a product
/// of a tensor with itself be symmetric.
std::size_t first_with_data(const statement& s, std::size_t n) {
    std::size_t first = 1;
    const auto &a = s.accesses[n], *o = &s.accesses[first];
    while (o->data != a.data || o->type != a.type || o->local != a.local) o = &s.accesses[++first];
    return first;
}

void write_access_header(const access& a, key_words& key) {
    key.push_back(static_cast<std::uint64_t>(a.type) | (a.padded ? 1u << 8 : 0u) |
                  (a.local != no_local ? 1u << 9 : 0u) | (a.data == nullptr ? 1u << 10 : 0u) |
                  (is_aligned(a) ? 0u : 1u << 11) | (size_of(a.type) > 2 || is_at_word(a) ? 0u : 1u << 12) |
                  word(a.position_count) << 16 | word(a.device) << 32);
}

/// Of every two operands of a call, several of which may be written.
void write_distances(const statement& s, key_words& key) {
    for (std::size_t n = 1; n < s.accesses.size(); ++n)
        for (std::size_t m = 0; m < n; ++m) {
            const auto &a = s.accesses[m], &b = s.accesses[n];
            const bool apart = a.local != b.local || span_of(s, a).is_apart_from(span_of(s, b));
            key.push_back(apart);
            key.push_back(
                apart ? 0 : reinterpret_cast<std::uintptr_t>(b.data) - reinterpret_cast<std::uintptr_t>(a.data));
        }
}

} // namespace

void write_key(const statement& s, key_words& key) {
    key.clear();
    append_key(s, key);
}

void append_key(const statement& s, key_words& key) {
    write_header(s, key);
    for (const auto& l : s.labels) key.push_back(word(l.begin)), key.push_back(word(l.end));
    for (const auto& a : s.accesses) {
        write_access_header(a, key);
        for (int p = 0; p < a.position_count; ++p) {
            const auto& position = position_of(s, a, p);
            key.push_back(word(position.extent));
            key.push_back(word(position.stride));
            key.push_back(word(position.offset));
            key.push_back(word(position.term_count) | word(position.table + 1) << 16 |
                          (position.distinct ? 1ull << 48 : 0ull) | (position.atomic ? 1ull << 49 : 0ull));
            for (int t = 0; t < position.term_count; ++t) {
                const auto& term = s.terms[static_cast<std::size_t>(position.first_term + t)];
                key.push_back(word(term.label));
                key.push_back(word(term.coefficient));
            }
        }
    }
    if (s.is_call()) return write_distances(s, key);
    const auto left = span_of(s, s.accesses[0]);
    for (std::size_t n = 1; n < s.accesses.size(); ++n) {
        const auto& a = s.accesses[n];
        const auto span = span_of(s, a);
        const bool apart = a.local != s.accesses[0].local || span.is_apart_from(left);
        key.push_back(apart);
        key.push_back(apart ? 0
                            : reinterpret_cast<std::uintptr_t>(a.data) -
                                  reinterpret_cast<std::uintptr_t>(s.accesses[0].data));
        key.push_back(first_with_data(s, n));
    }
}

void write_shapeless_key(const statement& s, key_words& key) {
    key.clear();
    write_header(s, key);
    for (const auto& l : s.labels) key.push_back(l.has_range());
    for (const auto& a : s.accesses) {
        write_access_header(a, key);
        for (int p = 0; p < a.position_count; ++p) {
            const auto& position = position_of(s, a, p);
            key.push_back(word(position.term_count) | word(position.table + 1) << 16);
            for (int t = 0; t < position.term_count; ++t)
                key.push_back(word(s.terms[static_cast<std::size_t>(position.first_term + t)].label));
        }
    }
}

} // namespace ricci::runtime
