// statement: IR 1, one statement in Einstein notation as plain values, as the dsl or the text parser captured it.
//
// Nothing is interpreted yet: which index is summed, what aliases what and which sizes agree is lowering's business.
// All parts lie in flat vectors, so that a statement cleared and filled again takes no memory from the heap.
#pragma once

#include "lowering/matrix_call.hpp"
#include "lowering/scalar_type.hpp"

#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::lowering {

inline constexpr int max_axes = 32;     ///< positions of one access
inline constexpr int max_operands = 64; ///< accesses on the right side
inline constexpr int max_labels = 512;  ///< different indices of one statement

enum class assignment : std::uint8_t { assign, add, subtract };

/// What a node of the right side does. `access` and `scalar` are leaves; min, max and the four arithmetic
/// operations have two children, the others one. reciprocal and sum are made by lowering only.
enum class operation : std::uint8_t {
    access,
    scalar,
    add,
    subtract,
    multiply,
    divide,
    negate,
    conjugate,
    relu,
    exp,
    sqrt,
    abs,
    min,
    max,
    reciprocal,
    sum
};

/// One node; children stand before their parents, the root is last.
struct node {
    operation kind{};
    std::int32_t a = -1; ///< access: its number; scalar: its number; else the first child
    std::int32_t b = -1; ///< the second child; for sum, the number of its list of axes
    bool operator==(const node&) const = default;
};

inline constexpr std::int64_t no_range = std::numeric_limits<std::int64_t>::min();

/// An index. Its name lives as long as the program (a literal, or intern()ed).
struct label {
    std::string_view name;
    std::int64_t begin = no_range; ///< the range written by the user, [begin, end)
    std::int64_t end = no_range;
    bool has_range() const { return begin != no_range || end != no_range; }
};

struct affine_term {
    std::int32_t label = 0;
    std::int64_t coefficient = 1;
};

inline constexpr std::int32_t no_table = -1;

/// One position of an access, addressing an axis of a tensor: the integer offset + sum of coefficient*label; or, of a
/// gathered position, the entry of an index table.
struct position {
    std::int64_t extent = 0; ///< of the tensor's axis, elements
    std::int64_t stride = 0; ///< elements, any sign
    std::int64_t offset = 0;
    std::int32_t first_term = 0;   ///< into statement::terms
    std::int32_t term_count = 0;   ///< 0: the position is fixed, or gathered
    std::int32_t table = no_table; ///< gathered: the access that gives its value, of a type is_index, which no node
                                   ///< reads; an address replaces the access's data, and the stride
    bool distinct = false;         ///< gathered: the user promised that no two entries are equal
    bool atomic = false;           ///< gathered: what equal entries add may be added by atomics, in any order
    bool is_gathered() const { return table != no_table; }
};

inline constexpr std::int32_t no_local = -1;

struct access {
    void* data = nullptr; ///< element (0, ..., 0); operands are never written through it
    scalar_type type = scalar_type::f64;
    bool padded = false;             ///< reads outside are zero, writes outside are dropped
    std::int32_t device = 0;         ///< 0 the CPU, n + 1 CUDA device n
    std::int32_t local = no_local;   ///< number of a ricci::local, which has no data
    std::int32_t first_position = 0; ///< into statement::positions
    std::int32_t position_count = 0;
    std::string_view name; ///< for messages; empty in C++, where tensors have no name
};

struct scalar {
    double real = 0, imaginary = 0;
    bool complex = false; ///< of complex type, whatever the value
};

struct statement {
    assignment op = assignment::assign;
    math_mode math = math_mode::full;
    std::vector<access> accesses; ///< [0] is the left side
    std::vector<label> labels;
    std::vector<label> second_ranges; ///< of indices to which the user gave two: nothing runs such a statement
    std::vector<position> positions;
    std::vector<affine_term> terms;
    std::vector<scalar> scalars;
    std::vector<node> nodes; ///< the right side
    matrix_call call;        ///< instead of an assignment; then there are no nodes, and the matrix stands first

    void clear() {
        op = assignment::assign, math = math_mode::full, call = {};
        accesses.clear(), labels.clear(), second_ranges.clear(), positions.clear(), terms.clear(), scalars.clear(),
            nodes.clear();
    }
    bool is_call() const { return call.what != routine::none; }
    /// Appends a node and returns its number.
    std::int32_t add(operation kind, std::int32_t a, std::int32_t b = -1) {
        nodes.push_back({kind, a, b});
        return static_cast<std::int32_t>(nodes.size()) - 1;
    }
};

/// Whether the data of an access can be read element by element: a complex element wants its real part's alignment.
inline bool is_aligned(const access& a) {
    return reinterpret_cast<std::uintptr_t>(a.data) % static_cast<std::uintptr_t>(size_of(real_of(a.type))) == 0;
}

/// Whether the data of an access begins at a multiple of 4 bytes, as a GPU's BLAS wants it of 2-byte elements.
inline bool is_at_word(const access& a) { return reinterpret_cast<std::uintptr_t>(a.data) % 4 == 0; }

/// Position p of an access.
inline const position& position_of(const statement& s, const access& a, std::int32_t p) {
    return s.positions[static_cast<std::size_t>(a.first_position + p)];
}

/// Whether an index stands in one of an access's positions, its tables' left out.
inline bool has_label(const statement& s, const access& a, std::int32_t label) {
    for (std::int32_t p = 0; p < a.position_count; ++p) {
        const auto& position = position_of(s, a, p);
        for (std::int32_t t = 0; t < position.term_count; ++t)
            if (s.terms[static_cast<std::size_t>(position.first_term + t)].label == label) return true;
    }
    return false;
}

/// Of a call: its matrix once more, with rows and columns exchanged, as what is solved for: an inverse in place.
inline void solve_into_matrix(statement& s) {
    auto& call = s.call;
    auto a = s.accesses[0];
    const auto first = static_cast<std::int32_t>(s.positions.size());
    for (std::int32_t p = 0; p < a.position_count; ++p) {
        auto position = position_of(s, a, p);
        const auto terms = static_cast<std::int32_t>(s.terms.size());
        for (std::int32_t t = 0; t < position.term_count; ++t) {
            auto term = s.terms[static_cast<std::size_t>(position.first_term + t)];
            term.label = term.label == call.row ? call.column : term.label == call.column ? call.row : term.label;
            s.terms.push_back(term);
        }
        position.first_term = terms;
        s.positions.push_back(position);
    }
    a.first_position = first;
    call.imply(matrix_role::solution, static_cast<std::int32_t>(s.accesses.size()));
    s.accesses.push_back(a);
}

/// The first of an access's positions that an address replaces its data by, or null.
inline const position* position_of_addresses(const statement& s, const access& a) {
    const auto* const first = s.positions.data() + a.first_position;
    for (const auto* p = first; p != first + a.position_count; ++p)
        if (p->is_gathered() && s.accesses[static_cast<std::size_t>(p->table)].type == scalar_type::address) return p;
    return nullptr;
}

/// How many children a node has.
constexpr int arity(operation kind) {
    using enum operation;
    switch (kind) {
    case access:
    case scalar:
        return 0;
    case add:
    case subtract:
    case multiply:
    case divide:
    case min:
    case max:
        return 2;
    default:
        return 1;
    }
}

/// A copy of `name` that lives until the program ends; for index and tensor names that come from text.
std::string_view intern(std::string_view name);

} // namespace ricci::lowering
