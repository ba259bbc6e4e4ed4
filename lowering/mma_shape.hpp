// mma_shape: the tensor cores' small products that kernels/batched_mma.cuh has.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

struct mma_shape {
    int rows;          ///< of a tile; columns are 8
    int element_bytes; ///< of a number; a complex one is two
    int splits;        ///< in how many products a lane's four elements of 16 steps of the sum go
    double cycles;     ///< of an SM a product, sm_90
};

/// Null where a product's operands do not have one type, or the tensor cores do not have its accuracy.
inline const mma_shape* mma_of(const step& st) {
    static constexpr mma_shape doubles{8, 8, 4, 4}, bits_16{16, 2, 1, 2};
    const auto x = st.operands[static_cast<std::size_t>(st.x)].type, y = st.operands[static_cast<std::size_t>(st.y)].type;
    if (x != y) return nullptr;
    if ((x == scalar_type::f64 || x == scalar_type::c128) && st.compute == x) return &doubles;
    if ((x == scalar_type::f16 || x == scalar_type::bf16) && st.compute == scalar_type::f32) return &bits_16;
    return nullptr;
}

} // namespace ricci::lowering
