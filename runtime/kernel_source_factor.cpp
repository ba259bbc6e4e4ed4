// kernel_source_factor: the prelude and arguments of the kernels that factor the matrices of a batch, or solve with
// their factors.
#include "runtime/kernel_source_families.hpp"

#include "lowering/factor_layout.hpp"
#include "lowering/factor_stream.hpp"
#include "lowering/factor_warp.hpp"
#include "lowering/families.hpp"
#include "lowering/matrix_sizes.hpp"
#include "runtime/prelude.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace ricci::runtime {
namespace {

using namespace lowering;

/// The axes along which an operand's rows and columns run.
std::array<std::int32_t, 2> axes_in(const matrix_work& w, matrix_role r) {
    using enum matrix_role;
    switch (r) {
    case matrix:
        return {w.row, w.column};
    case vector:
        return {w.along_vector, -1};
    case given:
        return {w.given_row, w.right};
    case solution:
        return {w.solution_row, w.right};
    default:
        return {-1, -1};
    }
}

std::int64_t stride_along(const operand* o, std::int32_t axis) {
    return o == nullptr || axis < 0 ? 0 : o->stride[static_cast<std::size_t>(axis)];
}

std::int64_t index_type(const operand* o) {
    return static_cast<std::int64_t>(o == nullptr || !is_index(o->type) ? scalar_type::i32 : o->type);
}

/// Of the kernel's parameters; each file says what they mean to it.
void write_tile(prelude& text, const step& st, const machine& chip) {
    const auto& tile = st.batched;
    text.constant("threads_per_block", tile.threads);
    text.constant("matrices_of_block", tile.products);
    text.constant("lanes_of_matrix", tile.tile_m);
    text.constant("lines_of_lane", tile.tile_n);
    text.constant("panel", tile.k_panel);
    text.constant("stages", tile.stages);
    text.flag("in_slabs", tile.boxed);
    text.constant("shared_bytes", factor_shared_bytes(st, tile, chip));
    if (chip.kind == target::cpu) text.constant("simd_bytes", chip.vector_bytes);
}

std::string_view file_of(const step& st, bool cuda) {
    using enum family;
    switch (st.kernel) {
    case factor_lanes:
        return !cuda                                     ? "factor_lanes_cpu.hpp"
               : st.matrices.method == matrix_method::qr ? "factor_lanes_qr.cuh"
               : is_by_warps(st.batched)                 ? "factor_warp.cuh"
                                                         : "factor_lanes.cuh";
    case factor_block:
        return !cuda ? "factor_block_cpu.hpp" : st.batched.streamed ? "factor_stream.cuh" : "factor_block.cuh";
    case factor_blocked:
        return "factor_blocked.cuh";
    default:
        return cuda ? "substitute.cuh" : "substitute_cpu.hpp";
    }
}

std::string factor_constants(const step& st, const machine& chip) {
    const auto& w = st.matrices;
    const auto sizes = matrix_sizes_of(st);
    const auto extent = [&](std::int64_t constant) { return st.dynamic_extents ? argument : constant; };
    prelude text;
    text.constant("compute_type", static_cast<std::int64_t>(st.compute));
    text.constant("method", static_cast<std::int64_t>(w.method));
    text.wide_constant("rows", extent(sizes.m));
    text.wide_constant("columns", extent(sizes.n));
    text.wide_constant("right_sides", w.right < 0 ? 0 : extent(sizes.r));
    text.flag("conjugated", w.conjugated);
    text.flag("keeps_factors", w.keeps_factors);
    text.flag("upper", w.upper);
    text.flag("unit", w.unit);
    text.flag("of_adjoint", w.adjoint);
    text.flag("smallest_norm", w.smallest_norm);
    text.constant("vector_type", index_type(operand_in(st, matrix_role::vector)));
    text.constant("info_type", index_type(operand_in(st, matrix_role::info)));
    std::vector<std::int32_t> has;
    std::vector<std::vector<std::int64_t>> steps;
    for (std::size_t r = 0; r < matrix_roles; ++r) {
        const auto role = static_cast<matrix_role>(r);
        const auto* const o = operand_in(st, role);
        has.push_back(o != nullptr);
        const auto least = o == nullptr ? 0 : least_changing_stride(st, w.of(role));
        auto& of_role = steps.emplace_back();
        for (const auto axis : axes_in(w, role)) {
            const auto stride = stride_along(o, axis);
            of_role.push_back(stride != 0 && std::abs(stride) >= least ? argument : extent(stride));
        }
    }
    text.list("has_role", has);
    text.wide_table("matrix_step", steps);
    text.constant("batch_axes", std::max<std::int64_t>(static_cast<std::int64_t>(batch_of_matrices(st).size()), 1));
    write_tile(text, st, chip);
    return text.text();
}

} // namespace

kernel_request make_factor(const step& st, const machine& chip) {
    const auto& w = st.matrices;
    const bool cuda = chip.kind == target::cuda;
    const auto sizes = matrix_sizes_of(st);
    kernel_request out;
    out.source = complete_source(factor_constants(st, chip), file_of(st, cuda));
    out.entry = st.kernel == family::substitute ? "ricci_substitute" : "ricci_factor";

    argument_packer pack(out);
    for (std::size_t r = 0; r < matrix_roles; ++r) {
        if (const auto* const o = operand_in(st, static_cast<matrix_role>(r)))
            pack.address(*o);
        else
            pack.number(0);
    }
    if (st.workspace.source < 0)
        pack.patch(argument_patch::value::address, st.workspace.source);
    else
        pack.number(0);
    for (const auto x : {sizes.matrices, sizes.m, sizes.n, sizes.r}) pack.number(x);
    for (std::size_t r = 0; r < matrix_roles; ++r) {
        const auto role = static_cast<matrix_role>(r);
        for (const auto axis : axes_in(w, role)) pack.number(stride_along(operand_in(st, role), axis));
    }
    auto batch = batch_of_matrices(st);
    for (const auto a : batch) pack.number(st.axes[static_cast<std::size_t>(a)].extent);
    if (batch.empty()) pack.number(1);
    for (std::size_t r = 0; r < matrix_roles; ++r) {
        for (const auto a : batch) pack.number(stride_along(operand_in(st, static_cast<matrix_role>(r)), a));
        if (batch.empty()) pack.number(0);
    }
    const auto& tile = st.batched;
    out.shape.grid = factor_blocks(st, tile, chip);
    out.shape.threads = tile.threads;
    out.shape.shared_bytes = static_cast<int>(factor_shared_bytes(st, tile, chip));
    out.shape.seconds_per_block = factor_seconds(st, tile, chip) * chip.processors /
                                  static_cast<double>(std::max<std::int64_t>(out.shape.grid, 1));
    return out;
}

} // namespace ricci::runtime
