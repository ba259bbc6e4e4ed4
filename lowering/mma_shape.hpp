// mma_shape: the tensor cores' small products that the kernels have.
#pragma once

#include "lowering/families.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/sm_limits.hpp"

namespace ricci::lowering {

struct mma_shape {
    int rows;          ///< of a tile; columns are 8
    int element_bytes; ///< of a number; a complex one is two
    int splits;        ///< in how many products a lane's four elements of 16 steps of the sum go
    int repeats;       ///< instructions a product: three of TF32 make one of f32, unless it is rounded
    double issue;      ///< instructions to bring one number into a register in the form that the product takes
    int words;         ///< registers of a number
    double cycles;     ///< of an SM a product, sm_90
};

/// Below so many steps of a sum f32 is left to multiply-adds: three TF32 products are right to a few units of f32's
/// last place whatever the sum's length, which only a sum of some length may lose anyway.
inline constexpr std::int64_t least_split_sum = 8;

/// Null where a product's operands do not have one type, or the tensor cores do not have its accuracy.
inline const mma_shape* mma_of(const step& st) {
    static constexpr mma_shape doubles{8, 8, 4, 1, 2, 2, 4}, split_floats{16, 4, 2, 3, 5, 2, 12},
        rounded_floats{16, 4, 2, 1, 2, 1, 4}, bits_16{16, 2, 1, 1, 2.5, 1, 2};
    const auto x = st.operands[static_cast<std::size_t>(st.x)].type,
               y = st.operands[static_cast<std::size_t>(st.y)].type;
    if (x != y) return nullptr;
    if ((x == scalar_type::f64 || x == scalar_type::c128) && st.compute == x) return &doubles;
    if ((x == scalar_type::f32 || x == scalar_type::c64) && st.compute == x) {
        if (st.math == math_mode::tf32) return &rounded_floats;
        return extent_of(st, axis_class::k) >= least_split_sum ? &split_floats : nullptr;
    }
    if ((x == scalar_type::f16 || x == scalar_type::bf16) && st.compute == scalar_type::f32) return &bits_16;
    return nullptr;
}

/// The product that a step's mma tile is made of. Of a warpgroup's a warp has 16 of 64 rows: two tiles (tile_m) of 8,
/// of 8 columns each, which are the `rows` here, as Y's columns are elsewhere.
inline const mma_shape* mma_of(const step& st, const batched_tile& t) {
    static constexpr mma_shape doubles_of_16_rows{16, 8, 4, 1, 2, 2, 4}, split_floats{8, 4, 2, 3, 5, 2, 1.5},
        rounded_floats{8, 4, 2, 1, 2, 1, 0.5};
    if (t.warpgroups) return st.math == math_mode::tf32 ? &rounded_floats : &split_floats;
    return t.rows_of_16 ? &doubles_of_16_rows : mma_of(st);
}

/// Whether a chip has TF32 products of four warps, one factor of which lies in shared memory.
inline bool has_warpgroup_products(const mma_shape& mma, const machine& chip) {
    return mma.element_bytes == 4 && capability_of(chip, 80) == 90;
}

/// Whether a chip has f64 products of 16 rows, which take as long as those of 8: measured on sm_90, assumed of later
/// ones.
inline bool has_rows_of_16(const mma_shape& mma, const machine& chip) {
    return mma.element_bytes == 8 && capability_of(chip, 80) >= 90;
}

/// The same, null on a chip that does not have these products: before sm_80.
inline const mma_shape* mma_of(const step& st, const machine& chip) {
    return capability_of(chip, 80) >= 80 ? mma_of(st) : nullptr;
}

/// What the models of tall products, which reach 0.8 of a unit's rate, take for a product's cycles: of TF32 and 16
/// bits as fitted to an H100's times, of f64 as measured.
inline double fitted_cycles(const mma_shape& mma) { return mma.cycles * (mma.element_bytes == 8 ? 0.8 : 0.4); }

/// The product that a tile of a C with `rows` is made of: `core`, null for multiply-adds, or of f64 that of 16 rows,
/// which takes as long, where there are as many and the chip has it.
inline const mma_shape* set_product(batched_tile& t, const step& st, const mma_shape* core, std::int64_t rows,
                                    const machine& chip) {
    t.rows_of_16 = core != nullptr && rows > core->rows && has_rows_of_16(*core, chip);
    return core == nullptr ? nullptr : mma_of(st, t);
}

/// Whether a step whose kernel is chosen may round f32 to TF32 where math_mode::tf32 asks for it: the factors of
/// products that are summed.
inline bool may_round_to_tf32(const step& st, const machine& chip) {
    if (chip.kind != target::cuda || real_of(st.compute) != scalar_type::f32 || st.classes.empty() ||
        extent_of(st, axis_class::k) == 1)
        return false;
    switch (st.kernel) {
    case family::library: return true;
    case family::batched_small:
    case family::batched_panels:
    case family::batched_stationary:
    case family::gett:
    case family::tall_skinny_atb:
    case family::tall_skinny_ab: {
        const auto* mma = mma_of(st, chip);
        return mma != nullptr && mma->element_bytes == 4;
    }
    default: return false;
    }
}

} // namespace ricci::lowering
