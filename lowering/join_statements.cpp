// join_statements: the statements of a program, one behind another, as one.
#include "lowering/join_statements.hpp"

#include "lowering/byte_span.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

constexpr std::uintptr_t first_place = std::uintptr_t{1} << 62, place_bytes = std::uintptr_t{1} << 48;

template <class T> std::int32_t size_of_list(const std::vector<T>& list) { return static_cast<std::int32_t>(list.size()); }

} // namespace

void join_statements(const std::vector<statement>& statements, statement& out) {
    out.clear();
    for (const auto& s : statements) {
        const auto accesses = size_of_list(out.accesses), labels = size_of_list(out.labels),
                   positions = size_of_list(out.positions), terms = size_of_list(out.terms);
        for (auto a : s.accesses) a.first_position += positions, out.accesses.push_back(a);
        for (auto p : s.positions) {
            p.first_term += terms;
            if (p.is_gathered()) p.table += accesses;
            out.positions.push_back(p);
        }
        for (auto t : s.terms) t.label += labels, out.terms.push_back(t);
        out.labels.insert(out.labels.end(), s.labels.begin(), s.labels.end());
        out.scalars.insert(out.scalars.end(), s.scalars.begin(), s.scalars.end());
    }
}

void place_locals(std::vector<statement>& statements, std::vector<std::int32_t>& locals) {
    locals.clear();
    static thread_local std::vector<std::int32_t> met;
    met.clear();
    for (auto& s : statements)
        for (auto& a : s.accesses) {
            if (a.local == no_local) {
                locals.push_back(no_local);
                continue;
            }
            const auto found = std::find(met.begin(), met.end(), a.local);
            const auto number = static_cast<std::int32_t>(found - met.begin());
            if (found == met.end()) met.push_back(a.local);
            locals.push_back(number);
            a.local = no_local;
            a.data = reinterpret_cast<void*>(first_place + static_cast<std::uintptr_t>(number) * place_bytes);
        }
}

void find_shared_memory(const std::vector<statement>& statements, shared_memory_of_accesses& out) {
    out.same.clear(), out.memory.clear();
    static thread_local std::vector<const access*> all;
    static thread_local std::vector<byte_span> spans;
    all.clear(), spans.clear();
    for (const auto& s : statements)
        for (const auto& a : s.accesses) all.push_back(&a), spans.push_back(span_of(s, a));
    for (std::size_t n = 0; n < all.size(); ++n) {
        out.same.push_back(static_cast<std::int32_t>(n)), out.memory.push_back(static_cast<std::int32_t>(n));
        for (std::size_t m = 0; m < n; ++m) {
            if (out.same[n] == static_cast<std::int32_t>(n) && all[m]->data == all[n]->data && all[m]->type == all[n]->type)
                out.same[n] = static_cast<std::int32_t>(m);
            if (spans[m].is_apart_from(spans[n]) || out.memory[m] == out.memory[n]) continue;
            const auto first = std::min(out.memory[m], out.memory[n]), other = std::max(out.memory[m], out.memory[n]);
            for (auto& c : out.memory)
                if (c == other) c = first;
        }
    }
}

std::vector<std::int32_t> same_accesses(const statement& s) {
    std::vector<std::int32_t> out;
    for (std::size_t n = 0; n < s.accesses.size(); ++n) {
        const auto& a = s.accesses[n];
        std::size_t first = 0;
        while (s.accesses[first].data != a.data || s.accesses[first].type != a.type) ++first;
        out.push_back(static_cast<std::int32_t>(first));
    }
    return out;
}

} // namespace ricci::lowering
