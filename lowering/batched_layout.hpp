// batched_layout: how the operands of a batched product lie in a block's shared memory on a GPU.
#pragma once

#include "lowering/plan.hpp"

#include <array>

namespace ricci::lowering {

/// One operand: C is m x n, X m x k, Y k x n.
struct staged_operand {
    bool is_span = false;     ///< copied as it lies in memory, gaps and all; else element by element, packed
    std::int64_t slot = 0;    ///< elements from one product to the next; 0: all products share one matrix
    std::int64_t row = 1;     ///< elements from one row to the next
    std::int64_t column = 1;
    std::int64_t length = 0;  ///< elements from a matrix's first to its last, plus one
    /// packed in lines of so many elements, each copied 16 bytes at a time and what is left of it number by number;
    /// 0: element by element
    std::int64_t line = 0;
    /// each matrix copied as it lies in memory, 16 bytes at a time, to its address modulo 16; a slot has room for
    /// that
    bool is_run = false;
};

/// Where the tensor cores read X or Y if its lines are copied once more: see kernels/realign.cuh. All in elements.
struct realigned_operand {
    std::int64_t lines = 0, length = 0;         ///< of a matrix: columns or rows, whichever lie in one piece
    std::int64_t all_lines = 0, all_length = 0; ///< with the zeros behind them
    std::int64_t from_pitch = 0, pitch = 0;     ///< from one line to the next where it was copied to first, and then
    std::int64_t elements = 0;                  ///< of a matrix, all of these
    std::int64_t slot = 0;                      ///< from one product to the next; 0: all share one matrix
    std::int64_t tiles_in_turn = 0;             ///< of a warp, whose columns these are; 0: they are its rows
    bool columns_are_lines = false;             ///< those columns, not the lines' elements
};

struct batched_layout {
    std::array<staged_operand, 3> operands; ///< C, X, Y
    bool c_is_dense = false;                ///< C's span holds nothing but C: it may be stored as a whole
    bool realigned = false;                 ///< X and Y are; C comes after that to where Y was
    std::array<realigned_operand, 3> again{}; ///< [0] is unused
    std::int64_t all_steps = 0;             ///< of the sum, those of the zeros behind realigned lines too
};

/// Of a product with single axes m and n. An operand is a span where a batch of at most one axis steps over whole
/// matrices, little of what lies between is not the operand's, and all strides are positive; unless its columns lie
/// on the same banks and can be set apart. Matrices that lie anywhere, by a table or several batch axes, are runs
/// where they are dense enough.
batched_layout batched_layout_of(const step& st);

/// The same for a tile; realigned ones are of steps that can_realign.
batched_layout batched_layout_of(const step& st, const batched_tile& t);

/// Whether X and Y may be realigned: 2-byte operands of one type whose matrices come in one piece, in lines that the
/// tensor cores cannot read whole, and C a span. Then X and Y get lines that they can.
bool can_realign(const step& st, const batched_layout& layout);
/// For tiles of this orientation and width.
void realign(const step& st, const batched_tile& t, batched_layout& layout);

/// Whether a block has a table of where each of its products lies: of several batch axes, or by tables.
bool has_places(const step& st);

/// Where the regions of C, X and Y begin in shared memory for this many products, bytes, multiples of 128, and those
/// of realigned X and Y.
struct batched_regions {
    std::array<std::int64_t, 3> staged{}, again{};
    std::int64_t end = 0;
};
batched_regions regions_of(const step& st, const batched_layout& layout, std::int64_t products);

/// Shared memory of a block, bytes: the barrier that copies complete on, the regions, and where each product lies if
/// the batch has several axes.
std::int64_t batched_shared_bytes(const step& st, const batched_layout& layout, std::int64_t products);

/// Along what an operand's lines run: see kernels/panel_stream.cuh.
enum class panel_lines : std::uint8_t { k, other, whole_other, whole_k, boxes };

/// How the tensor cores' tiles read panels: see kernels/batched_mma.cuh.
enum class fragment_load : std::uint8_t { elements, matrices, fours, boxes };

/// How the panels of X and Y lie in a stage of batched_panels and the tall-skinny kernels; [0] is unused.
struct panel_layout {
    std::array<std::int64_t, 3> row{}, column{}; ///< as staged_operand's
    std::array<std::int64_t, 3> pitch{};         ///< elements from one line to the next
    std::array<std::int64_t, 3> region{};        ///< bytes from the start of a stage
    std::array<panel_lines, 3> lines{};
    fragment_load fragments = fragment_load::elements;
    std::int64_t stage_bytes = 0;
    bool by_bulk = false; ///< tall_skinny_atb: whether bulk copies bring panels, where pointers are aligned
};
/// For blocks of `rows` x `columns` of C, multiplied by `core`. A panel of all k may be whole along k.
/// `boxed`: X and Y come in boxes, which run along k.
panel_layout panel_layout_of(const step& st, batched_core core, std::int64_t k_panel, std::int64_t rows,
                             std::int64_t columns, bool boxed = false);
/// For a step's blocks by a tile.
panel_layout panel_layout_of(const step& st, const batched_tile& t);

/// How the tensor cores' tiles read the operands of batched_small: 16-bit ones by matrices, where all lines can start
/// at multiples of 16 bytes.
fragment_load span_fragments(const step& st, const batched_layout& layout);
/// Whether they are not read so only because X or Y begins between two words.
bool loses_matrices(const step& st);

inline constexpr std::int64_t barrier_bytes = 128; ///< before the first region

} // namespace ricci::lowering
