// kernel_source: from a step to the complete source of its kernel, how it is started, and what its arguments are.
#pragma once

#include "lowering/box_layout.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "runtime/backend.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ricci::runtime {

/// A word of the arguments that is known only at launch.
struct argument_patch {
    enum class value : std::uint8_t {
        address, scalar_real, scalar_imaginary, coefficient_real, coefficient_imaginary, beta_real, beta_imaginary,
        rows, row_begins, row_behind, row_entries, row_keys, start_from_zero, ///< of row_lists
        adds_at_once ///< of a chain with additions: whether it does them itself
    };
    std::int32_t word = 0;
    value what{};
    std::int32_t source = 0;      ///< address: as operand::source; scalar: its number; others: unused
    std::int64_t byte_offset = 0; ///< added to an address
    std::int64_t slice_bytes = 0; ///< added to it for each slice before the one that runs
};

/// Where the arguments say how an operand's boxes lie.
struct argument_box {
    std::int32_t word = 0;    ///< the first of words_of_boxes
    std::int32_t address = 0; ///< the word that has the operand's
    lowering::box_layout layout;
};

/// Memory that a kernel has among its constants.
struct argument_constants {
    std::int32_t word = 0;        ///< the one that has an operand's address
    std::int64_t byte_offset = 0; ///< from there to the first
    std::int64_t at = 0, bytes = 0;
};

/// The inverse of tables as the scatter kernel reads it, kernels/scatter_rows.hpp.
struct row_lists {
    static constexpr std::int64_t rows_together = 16;
    std::int64_t rows = 0;
    const void *begins = nullptr, *behind = nullptr, *entries = nullptr, *keys = nullptr;
    bool start_from_zero = false; ///< what elements hold does not count; those without entries become zero
};

/// The blocks of a kernel whose work depends on the rows there are: `a_row` items for each row, `of_block` of them a
/// block, all that `times`.
struct row_grid {
    std::int64_t a_row = 0, of_block = 1, times = 1;
    std::int64_t grid_of(std::int64_t rows) const { return (rows * a_row + of_block - 1) / of_block * times; }
};

/// One kernel, ready to be compiled, and how it is started.
struct kernel_launch {
    std::string source; ///< constants, then the kernel with every #include replaced
    std::string entry;
    launch_shape shape;
};

/// What computes a step, any number of times: a kernel, and those that run behind it with the same arguments.
struct kernel_request : kernel_launch {
    std::vector<kernel_launch> behind;
    std::vector<std::uint64_t> words; ///< the kernel's `struct arguments`, patches still zero
    std::vector<argument_patch> patches;
    std::vector<argument_box> boxes;
    std::vector<argument_constants> constants; ///< of the first kernel
    row_grid by_rows;            ///< of the scatter kernel; else of no items
    std::int32_t boxes_word = 0; ///< whether the operands lie as boxes want it, if there are any
    /// trees of scalars evaluated on the host (alpha and beta of a product); empty: 1
    std::vector<lowering::node> coefficient, beta;
};

/// All kernels of a request, in their order.
inline std::vector<const kernel_launch*> kernels_of(const kernel_request& request) {
    std::vector<const kernel_launch*> out{&request};
    for (const auto& kernel : request.behind) out.push_back(&kernel);
    return out;
}

/// The request for a step of the direct, scatter, batched or tall-skinny families on a chip. Everything that may change
/// without a recompile (pointers, scalars, batch extents, offsets, the long axis) is in the words, the rest in the
/// source.
kernel_request make_kernel(const lowering::step& st, const lowering::machine& chip);

/// For a step that begins_kernel.
kernel_request make_kernel_of(const lowering::plan& p, std::size_t step, const lowering::machine& chip);

} // namespace ricci::runtime
