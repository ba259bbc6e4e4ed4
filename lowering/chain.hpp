// chain: steps that one kernel runs for an element (a value of one axis) after another, as plain values: what passes
// between the steps stays with the element, in registers and shared memory.
//
// A chain is a list of phases. In a phase each thread takes items, and for an item walks along a stream of points:
// at each point it computes values one after another, from operands and from pencils. A pencil is an operand along
// axes that are summed, kept in registers for the item: a value is its product with a row of a matrix that all items
// share; or the other way round: a value times a row is added to a pencil, which is stored when the stream has ended.
// So B(c,n)*u(a,b,n), D(a,b,c)*that, and B(c,k)*that again are one phase over items (a,b) along c, with nothing
// stored between. Between phases all threads of an element wait for each other.
#pragma once

#include "lowering/matrix_work.hpp"
#include "lowering/statement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ricci::lowering {

inline std::int64_t product_of(const std::vector<std::int64_t>& extents) {
    std::int64_t out = 1;
    for (const auto e : extents) out *= e;
    return out;
}

inline std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents) {
    std::vector<std::int64_t> out;
    std::int64_t stride = 1;
    for (const auto e : extents) out.push_back(stride), stride *= e;
    return out;
}

/// Memory outside of the kernel: an operand's source from one of its elements on, or its slice for each element.
struct chain_memory {
    scalar_type type = scalar_type::f64;
    std::int32_t source = 0;       ///< as operand::source
    std::int64_t offset = 0;       ///< elements
    std::int64_t element_step = 0; ///< elements from one slice to the next; 0: shared by all
    bool is_span = false;          ///< slices lie one behind another and are moved as a whole
    std::int64_t reach = 0;        ///< elements from a span's first one to the last that is used, plus one
    bool is_read = false, is_written = false;
    std::int32_t constant = -1; ///< where its elements begin among the kernel's constants; -1: they are none
    std::int64_t constant_first = 0, constant_count = 0; ///< which of its elements those are
};

/// Where a slice of one element is kept, of temporaries one after another: a box of the chain's compute type.
struct chain_slot {
    std::vector<std::int64_t> extents, strides; ///< of its dimensions, the nearest first; dense, but for space_slots
    std::int32_t first_phase = 0, last_phase = 0;
    std::int64_t step = 0; ///< on a GPU: from one element's numbers to the next one's

    std::int64_t length() const { return product_of(extents); } ///< without gaps
};

/// A table that gives a position of an operand.
struct chain_gather {
    std::int32_t view = 0;   ///< of the table
    std::int64_t stride = 0; ///< elements an entry counts
    bool operator==(const chain_gather&) const = default;
};

/// How a phase reads or writes an operand: strides along its items, its stream, and the pencil's own axes.
struct chain_view {
    enum class space : std::uint8_t { memory, slot };
    std::int32_t phase = 0;
    space where = space::memory;
    std::int32_t number = 0; ///< of chain::memories or chain::slots
    std::int64_t offset = 0;
    std::vector<std::int64_t> item, stream, inner;
    std::vector<std::int64_t> inner_extent;
    bool conjugated = false;
    std::vector<chain_gather> tables;
    bool adds_atomically = false; ///< what is stored: equal entries of its tables add up in any order
    bool operator==(const chain_view&) const = default;
};

/// The factor that all items share: a row for each point of the stream. Kept in the chain's compute type.
struct chain_matrix {
    std::int32_t memory = -1; ///< shared by all elements; or
    std::int32_t view = -1;   ///< an element's own
    std::int64_t offset = 0;  ///< elements
    std::vector<std::int64_t> stream, inner, stream_extent, inner_extent;
    bool conjugated = false;
    bool operator==(const chain_matrix&) const = default;
    std::int64_t rows() const { return product_of(stream_extent); }
    std::int64_t columns() const { return product_of(inner_extent); }
};

struct chain_pencil {
    std::int32_t view = 0;
    std::int32_t length = 1;
    bool is_output = false;
    std::int32_t accumulation = 0; ///< of an output: 0 stored, 1 added to what is there, -1 subtracted
    bool operator==(const chain_pencil&) const = default;
};

struct chain_op {
    enum class what : std::uint8_t { load, scalar, compute, multiply_row, add_row, store };
    what kind = what::load;
    operation function = operation::add; ///< compute
    std::int32_t result = -1;            ///< number of a value
    std::int32_t a = -1, b = -1;         ///< values; scalar: its number
    std::int32_t view = -1, pencil = -1, matrix = -1;
    std::int32_t accumulation = 0; ///< store: 0, 1 or -1
};

/// What a phase does with a matrix of each of its items instead of evaluating trees: kernels/chain_calls.hpp. It
/// works in slots, to which it copies what it must not change.
struct chain_call {
    matrix_task task = matrix_task::none;
    matrix_method method = matrix_method::cholesky;
    bool keeps_factors = false, upper = false, unit = false, adjoint = false;
    std::int32_t rows = 0, columns = 0, sides = 0;
    /// By role, of the operands; -1: none. Their pencils' own axes are rows and columns.
    std::array<std::int32_t, matrix_roles> view{-1, -1, -1, -1, -1, -1, -1};
    std::int32_t matrix = -1, right = -1; ///< views of where it works: what is factored, what is solved for; -1: none

    std::int32_t of(matrix_role r) const { return view[static_cast<std::size_t>(r)]; }
    std::int32_t& of(matrix_role r) { return view[static_cast<std::size_t>(r)]; }
};

struct chain_phase {
    std::vector<std::int64_t> items, stream; ///< extents
    std::optional<chain_call> call;          ///< then there are no pencils and operations
    std::vector<chain_pencil> pencils;
    std::vector<chain_op> ops;
    std::int32_t values = 0;
    std::int32_t unrolled = 1; ///< points at a time: choose_chain_shape

    std::int64_t item_count() const { return product_of(items); }
    std::int64_t point_count() const { return product_of(stream); }
    /// Of numbers with the rows of matrices, for each item.
    std::int64_t multiply_adds() const {
        std::int64_t out = 0;
        for (const auto& op : ops)
            if (op.pencil >= 0) out += pencils[static_cast<std::size_t>(op.pencil)].length;
        return out * point_count();
    }
};

/// What a step behind the chain adds, in order, of a span that the chain writes: number by number along these axes,
/// the first one fastest, to elements that tables give.
struct chain_addition {
    struct table {
        std::int32_t memory = 0;
        std::int64_t factor = 0; ///< elements an entry counts
        std::vector<std::int64_t> stride;
    };
    std::int32_t from = 0, to = 0; ///< memories
    std::int64_t offset = 0;       ///< in the span's slice
    std::vector<std::int64_t> extent, from_stride, to_stride;
    std::vector<table> tables;
    bool subtracts = false;
};

struct chain {
    std::string_view axis; ///< whose values are the elements
    std::int64_t elements = 0;
    scalar_type compute = scalar_type::f64;
    std::vector<chain_memory> memories;
    std::vector<chain_slot> slots;
    std::vector<chain_matrix> matrices;
    std::vector<chain_view> views;
    std::vector<chain_phase> phases;
    std::vector<chain_addition> additions; ///< of a CPU, whose one thread may do them while it has the span's numbers
    double bytes = 0, flops = 0;           ///< of an element: moved to and from memory; computed
    // choose_chain_shape
    std::int32_t elements_of_block = 1, threads = 128; ///< on a GPU; a CPU has a vector of elements
    std::int32_t blocks_of_processor = 1;              ///< on a GPU, that registers are to allow at once
    std::int32_t constants = 0;                        ///< on a GPU: choose_constants
};

/// What a chain writes; of several the one that it meets last.
inline const chain_memory& output_of(const chain& c) {
    return *std::find_if(c.memories.rbegin(), c.memories.rend(), [](const chain_memory& m) { return m.is_written; });
}

} // namespace ricci::lowering
