// product: a batch of matrix products to be measured: sizes, types and where each element lies.
#pragma once

#include "bench/lists.hpp"

#include <ricci/lowering/statement.hpp>
#include <ricci/runtime/device.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ricci::bench {

/// Where the elements of one matrix of a batch lie. Strides are in elements.
struct matrix {
    lowering::scalar_type type = lowering::scalar_type::f64;
    std::int64_t row_stride = 1, column_stride = 1;
    std::int64_t batch_stride = 0; ///< 0: all products use the same matrix
    std::int64_t elements = 0;     ///< from the first to the last of the whole batch
};

/// C(i,j,e) = or += A(i,k,e)*B(k,j,e), as it is multiplied: what is stored transposed has a row stride above 1.
struct product {
    std::int64_t m = 0, n = 0, k = 0, batch = 1;
    bool batched = false; ///< has an index of the batch, which may have one value
    bool accumulate = false;
    bool a_conjugated = false, b_conjugated = false;
    matrix a, b, c;
    /// Not null: product e takes the A and B that stand at places[e]; `by_address`: C too, all three by arrays of
    /// pointers.
    std::shared_ptr<const std::vector<std::int32_t>> places;
    bool by_address = false;
    lowering::math_mode math = lowering::math_mode::full; ///< asked for; see is_rounded
};

enum class layout {
    contiguous,  ///< a product behind the other
    interleaved, ///< the batch's index is the fastest
    shared,      ///< all products use the same B
    shared_a,    ///< all products use the same A
    gathered,    ///< contiguous matrices, A's and B's taken in a random order, by an index table
    pointers     ///< the same by arrays of pointers, C's too
};

/// What is the same for a whole sweep of batches.
struct batch_layout {
    layout order = layout::contiguous;
    std::int64_t padding = 0; ///< elements behind each column, or behind each run over the batch
};

product make_batched(const shape& s, const type_pair& types, const operations& ops, const batch_layout& layout,
                     bool accumulate, std::int64_t batch);

enum class tall_kind { atb, ab };

/// atb: C = A^T*B with A `height` x m and B `height` x n. ab: C = A*B with A `height` x m, B m x n, C `height` x n.
/// By column: the long side is the fastest of the tall matrices; by row: the slowest.
product make_tall_skinny(tall_kind kind, std::int64_t height, const shape& widths, const type_pair& types,
                         bool by_column, bool accumulate, std::int64_t padding);

/// The type that sums are carried in.
lowering::scalar_type compute_type(const product& p);

/// Whether whoever multiplies may round the operands to TF32: such that are f32 or c64, where that is asked for.
bool is_rounded(const product& p);

/// Two for each multiply-add; a complex one counts eight.
double flops_of(const product& p);

/// A and B read once, C read if it is accumulated, and written once; tables read once.
double bytes_of(const product& p);

/// The same, counting every 32-byte sector of memory that holds an element: more where columns are padded.
double touched_bytes_of(const product& p);

/// The memory of A, B and C.
std::int64_t footprint_of(const product& p);

/// How many products take about `bytes` of memory traffic in all, at least 1.
std::int64_t batch_for_bytes(product p, std::int64_t bytes);

/// The addresses of one set of operands.
struct operand_set {
    void* a = nullptr;
    void* b = nullptr;
    void* c = nullptr;
    void* table = nullptr;     ///< product::places, on the device
    void* addresses = nullptr; ///< of each product's A, B and C, one array behind the other
};

/// What operand_set::addresses holds for operands at these addresses.
std::vector<void*> addresses_of(const product& p, const operand_set& operands);

/// The statement as text, the fastest index of each tensor first: "C(i,j,e) += A(k,i,e)*B(k,j,e)".
std::string text_of(const product& p);

/// The same, bound to operands.
lowering::statement bind(const product& p, const operand_set& operands, device where);

} // namespace ricci::bench
