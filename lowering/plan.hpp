// plan: IR 2, a statement as a list of steps, each of which becomes one kernel or one library call.
//
// fix_indices makes a plan of one step from a statement; every later pass takes a plan and returns a plan.
#pragma once

#include "lowering/chain.hpp"
#include "lowering/matrix_work.hpp"
#include "lowering/statement.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::lowering {

/// An index of a step, running over [0, extent): ranges are folded into the operands' offsets.
struct axis {
    std::string_view name;
    std::int64_t extent = 0;
    bool variable = false; ///< follows another extent that may change: always an argument of a kernel
    bool mirrored = false; ///< one of the two of a step's symmetry
};

/// A padded position: an element exists only where 0 <= offset + sum of coefficient*axis < extent.
struct bound {
    std::int64_t offset = 0;
    std::int64_t extent = 0;
    std::vector<std::int64_t> coefficient; ///< one per axis of the step
};

/// How what several values of a step's axes add to one element of the output comes together: there are none such; a
/// second pass adds up what each element gets, in the table's order; or by atomic additions, in any order.
enum class collision : std::uint8_t { none, ordered, atomic };

/// A gathered position of an operand: adds stride * the table's entry to its offset; an address replaces its data.
struct gather {
    std::int32_t table = 0;  ///< operand of the step; its axes are present in the gathered operand too
    std::int64_t stride = 0; ///< elements
    std::int64_t extent = 0; ///< the entries lie in [0, extent)
    collision equal = collision::none; ///< of the output: what becomes of equal entries
};

/// An access as a linear map from axes to elements, plus what tables give. Diagonals, affine and fixed positions are
/// folded in.
struct operand {
    scalar_type type = scalar_type::f64;
    std::int32_t source = 0;          ///< >= 0: access of the statement; < 0: temporary number -1-source
    bool source_at_word = true;       ///< the source's data begin at a multiple of 4 bytes
    std::int64_t offset = 0;          ///< elements from the source's data to axis values all 0
    std::vector<std::int64_t> stride; ///< elements, one per axis of the step; 0 where absent
    std::vector<char> present;        ///< one per axis: whether it occurs (a present axis may have stride 0)
    std::vector<bound> bounds;        ///< of a padded access
    std::vector<gather> gathers;
    std::int64_t slice = 0; ///< of a step in a group: elements between one slice's data and the next one's
    bool overlaps = false; ///< shares memory with the statement's left, other than by being the element it writes
    /// is the very element the step writes: to be read by the work item that writes it
    bool in_place = false;
};

/// Whether an operand's first element begins at a multiple of 4 bytes.
inline bool begins_at_word(const operand& o) {
    return size_of(o.type) > 2 || o.source_at_word == (o.offset % 2 == 0);
}

/// Where an axis of a product of two operands X*Y occurs: in the output and both; in the output and X; in the output
/// and Y; in X and Y only; anything else (one operand only, or the output only).
enum class axis_class : std::uint8_t { batch, m, n, k, other };

/// What a step's result is with its two mirrored axes exchanged: anything, the same, or its conjugate.
enum class symmetry : std::uint8_t { none, symmetric, hermitian };

/// What the step is, in the field's terms.
enum class form : std::uint8_t {
    none, pointwise, permutation, reduction, dot, gemv, outer_product, gemm, batched_gemm, interleaved_gemm,
    tall_skinny_atb, tall_skinny_ab, direct, scatter, chain, winograd, tile_transform, factorization, substitution
};

/// Which kernel runs it.
enum class family : std::uint8_t {
    none, direct, batched_small, batched_lanes, batched_panels, batched_stationary, batched_blocked, gett,
    tall_skinny_atb, tall_skinny_ab, library, scatter, chain, winograd, tile_transform,
    factor_lanes, factor_block, factor_blocked, substitute
};

/// What multiplies within a block of a GPU's kernel for products: multiply-adds, or the tensor cores.
enum class batched_core : std::uint8_t { fma, mma };

/// The parameters of the batched and tall-skinny kernels; what each means stands at the heads of their files, for a
/// CPU's in register_tile.hpp and blocked_product.hpp.
struct batched_tile {
    /// a block; gett and tall_skinny_ab: rows, in all its turns where in_registers, instead of products
    std::int32_t products = 1, threads = 128;
    batched_core core = batched_core::fma;
    std::int32_t tile_m = 1, tile_n = 1; ///< elements a thread, or tiles a warp
    std::int32_t k_unrolled = 1;
    std::int32_t panel = 0;                         ///< columns of C at a time
    /// batched_panels, batched_lanes (0 stages: a thread a product), the tall-skinny kernels;
    /// batched_stationary: lines of X at a time
    std::int32_t k_panel = 0, stages = 0;
    std::int32_t slices = 1;                        ///< tall_skinny_atb; parts of C of boxed batched_lanes
    bool rows_first = false, skewed = false;        ///< fma; skewed of boxed batched_lanes: batched_lane_shifts
    bool c_transposed = false;                      ///< mma
    bool columns_apart = false; ///< batched_small's mma: the columns of a warp's tiles take turns, two at a time
    bool rows_of_16 = false;                        ///< mma of f64: products of 16 rows instead of 8, sm_90
    bool warpgroups = false;                        ///< batched_stationary of f32: products of four warps, sm_90
    /// mma: steps of the sum between neighboring lanes' elements, in fours; 0: one step
    std::int32_t k_apart = 0;
    std::int32_t thread_products = 1; ///< batched_lanes with stages: neighbors a thread
    /// tall_skinny_ab, _atb: X, and Y of the latter, go from memory straight into registers
    bool in_registers = false;
    /// batched_small's mma: X and Y copied once more, to lines that start at multiples of 16 bytes;
    /// batched_stationary: Y brought into the form that the tensor cores take; tall_skinny_atb: panels of columns that
    /// start anywhere, panel_shifts.hpp
    bool realigned = false;
    /// tall_skinny_ab: X and C move in boxes, box_layout.hpp; tall_skinny_atb's panels: X and Y; batched_lanes: the
    /// kernels of lane_ring_layout.hpp
    bool boxed = false;
    bool streamed = false; ///< factor_block: factor_stream.hpp
    bool operator==(const batched_tile&) const = default;
};

/// Where a step's batched_tile comes from: the cost model; the model's best few, the one most like what measured best
/// at sizes nearby; the table that ricci ships for the architecture; measurements on this chip.
enum class tile_origin : std::uint8_t { model, neighbors, shipped, measured };

/// Memory of a step's kernel alone.
struct scratch {
    std::int32_t source = 0; ///< as operand::source; 0: none
    std::int64_t bytes = 0;
};

/// One kernel's worth of work: operands[0] op= tree(operands[1..], scalars).
struct step {
    assignment op = assignment::assign;
    scalar_type compute = scalar_type::f64; ///< the tree is evaluated in this type, and rounded once on storing
    /// tf32 of f32 and c64 only; once the kernel is chosen, only where its products may be such
    math_mode math = math_mode::full;
    std::vector<axis> axes;
    /// [0] is the output; an access node's `a` counts from here; tables of gathered ones stand among them
    std::vector<operand> operands;
    std::vector<node> nodes;       ///< as statement::nodes; `scalar` nodes count in the statement's scalars
    std::vector<std::vector<std::int32_t>> sums; ///< the axes of each sum node
    /// += only, of a product: a tree of scalars, by which what the output holds is multiplied first; empty: by 1
    std::vector<node> beta;
    lowering::symmetry symmetry = lowering::symmetry::none; ///< find_symmetry
    matrix_work matrices; ///< instead of a tree

    // classify_axes: for a step that is coefficient * X * Y summed (matrix_product), else empty
    std::vector<axis_class> classes; ///< one per axis
    std::int32_t x = -1, y = -1;     ///< the operands that play A and B
    bool x_conjugated = false, y_conjugated = false;
    // choose_form
    form shape = form::none;
    family kernel = family::none;
    bool dynamic_extents = false; ///< the kernel takes every extent as an argument
    std::array<std::int32_t, 4> tile{}; ///< the family's parameters, see families.hpp
    batched_tile batched;               ///< those of most batched and tall-skinny kernels
    tile_origin origin = tile_origin::model; ///< of `batched`
    scratch workspace;
    std::int32_t group = -1; ///< of plan::groups; steps of one stand together
    std::int32_t chain = -1; ///< of plan::chains; steps of one stand together and are one kernel
    std::int32_t statement = 0; ///< of a program
    std::int32_t fill = -1;     ///< of what adds in order: the step that sets just what it may add to; find_fills
};

/// Memory a plan needs beside its operands, dense, first axis fastest.
struct temporary {
    scalar_type type = scalar_type::f64;
    std::int64_t elements = 0;
    std::int64_t offset = 0; ///< place_temporaries: bytes from the start of the workspace
    bool of_slice = false;   ///< place_temporaries: each slice at work has one of its own, in memory apart
    bool is_local = false;   ///< of a program
    bool is_zeroed = false;  ///< all bits zero before the first step
    std::vector<std::int64_t> extents{}; ///< the nearest first, where several dimensions are known
};

/// Steps that run for one slice of an axis after another, or several at once; no slice needs anything of another.
struct slices {
    std::string_view axis;
    std::int64_t count = 0, length = 0;
};

/// Entries of a table that a plan reads, which must be valid positions; or pivots, which must be rows.
struct table_check {
    /// of the statement: what is gathered, where in it, by which access
    std::int32_t access = 0, position = 0, table = 0;
    std::int64_t offset = 0, extent = 0;              ///< of the first entry, elements; of the position, or rows
    struct run {
        std::int32_t label = 0;
        std::int64_t begin = 0, count = 0, stride = 0; ///< of the label; elements
    };
    std::vector<run> runs; ///< the entries are those at offset + sum of (label - begin)*stride
    std::int32_t statement = 0; ///< of a program: whose accesses and labels these are
    bool of_pivots = false;     ///< that a call reads: no position, and `access` is its matrix
};

struct plan {
    std::vector<step> steps;
    std::vector<table_check> checks;
    std::vector<temporary> temporaries;
    std::vector<slices> groups; ///< slice_steps
    std::vector<chain> chains;  ///< fuse_statements
    /// of a program: the first of the accesses that may share memory with one; empty: those of one statement
    std::vector<std::int32_t> memory_of_access;
    /// of each access the first one that is the same tensor
    std::vector<std::int32_t> same_access;
    std::vector<std::int32_t> first_accesses; ///< of a program: of each statement, among the joined ones
    std::int64_t workspace_bytes = 0, slice_bytes = 0; ///< place_temporaries: the temporaries together; a slice's own
    std::vector<std::string> notes; ///< how overlaps were made safe, why a form was chosen; for explain
};

/// For the steps of one of a plan's chains, whose kernel stands at the first of them; none for the others.
inline bool begins_kernel(const plan& p, std::size_t step) {
    const auto chain = p.steps[step].chain;
    return chain < 0 || step == 0 || p.steps[step - 1].chain != chain;
}

} // namespace ricci::lowering
