// cuda_boxes: tells a GPU's copy engine of matrices whose boxes a kernel moves.
#include "runtime/cuda_boxes.hpp"

#include "runtime/cuda_check.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ricci::runtime {

bool cuda_map_boxes(const cuda_driver& d, const lowering::box_layout& layout, std::uint64_t address,
                    box_map map) {
    static_assert(sizeof(CUtensorMap) == words_of_boxes * sizeof(std::uint64_t));
    if (address % 16 != 0 || layout.between % 16 != 0) return false;
    const cuuint64_t extents[] = {static_cast<cuuint64_t>(layout.length), static_cast<cuuint64_t>(layout.lines)};
    const cuuint64_t strides[] = {static_cast<cuuint64_t>(layout.between)};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(lowering::box_elements(layout.element)),
                              static_cast<cuuint32_t>(layout.lines)};
    const cuuint32_t steps[] = {1, 1};
    // only its size counts: what lies beyond the matrix is zero
    const auto type = layout.element == 8   ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64
                      : layout.element == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                            : CU_TENSOR_MAP_DATA_TYPE_UINT16;
    CUtensorMap made;
    check(d.cuTensorMapEncodeTiled(&made, type, 2, std::bit_cast<void*>(address), extents, strides, box, steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
          "cuTensorMapEncodeTiled");
    std::memcpy(map.data(), &made, sizeof made);
    return true;
}

} // namespace ricci::runtime
