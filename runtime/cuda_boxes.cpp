// cuda_boxes: tells a GPU's copy engine of matrices whose boxes a kernel moves.
#include "runtime/cuda_boxes.hpp"

#include "runtime/cuda_check.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace ricci::runtime {

bool cuda_map_boxes(const cuda_driver& d, const lowering::box_layout& layout, std::uint64_t address,
                    box_map map) {
    static_assert(sizeof(CUtensorMap) == words_of_boxes * sizeof(std::uint64_t));
    if (!takes_boxes_at(layout, address)) return false;
    const cuuint32_t axes = layout.between[1] == 0 ? 2 : 3; // as the kernel's instruction has them
    std::array<cuuint64_t, 3> extents{};
    std::array<cuuint64_t, 2> strides{};
    std::array<cuuint32_t, 3> box{}, steps{1, 1, 1};
    std::ranges::transform(layout.extent, extents.begin(), [](auto e) { return static_cast<cuuint64_t>(e); });
    extents[0] = static_cast<cuuint64_t>(line_length(layout, address));
    std::ranges::transform(layout.between, strides.begin(), [](auto b) { return static_cast<cuuint64_t>(b); });
    std::ranges::transform(layout.box, box.begin(), [](auto e) { return static_cast<cuuint32_t>(e); });
    // only its size counts: what lies beyond the matrix is zero
    const auto type = layout.element == 8   ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64
                      : layout.element == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                            : CU_TENSOR_MAP_DATA_TYPE_UINT16;
    CUtensorMap made;
    const auto swizzle = layout.exchanged ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE;
    void* const first = std::bit_cast<void*>(address / 16 * 16);
    // Planes that lie nearer than lines do are not in the driver's description, but work (580.159): one that refuses
    // them is no reason to fail, as kernels have another way.
    const auto result = d.cuTensorMapEncodeTiled(
        &made, type, axes, first, extents.data(), strides.data(), box.data(), steps.data(),
        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_ERROR_INVALID_VALUE) return false;
    check(result, "cuTensorMapEncodeTiled");
    std::memcpy(map.data(), &made, sizeof made);
    return true;
}

} // namespace ricci::runtime
