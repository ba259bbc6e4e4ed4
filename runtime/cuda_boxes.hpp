// cuda_boxes: tells a GPU's copy engine of matrices whose boxes a kernel moves.
#pragma once

#include "lowering/box_layout.hpp"
#include "runtime/backend.hpp"
#include "runtime/cuda_driver.hpp"

#include <cstdint>

namespace ricci::runtime {

/// As backend::map_boxes: the driver's tensor map.
bool cuda_map_boxes(const cuda_driver& d, const lowering::box_layout& layout, std::uint64_t address,
                    box_map map);

} // namespace ricci::runtime
