// box: a box of hexahedra, and the numbers of its nodes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ricci::bench::fem {

/// Elements along each direction; they are counted along x first.
struct box {
    std::int64_t x = 1, y = 1, z = 1;

    std::int64_t elements() const { return x * y * z; }
    /// Nodes of the whole box, those on faces once.
    std::int64_t nodes(std::int64_t order) const { return (x * order + 1) * (y * order + 1) * (z * order + 1); }
    bool operator==(const box&) const = default;
};

/// About as many elements, as near a cube as can be; at least one.
box box_of(std::int64_t elements);

/// The element that lies `offset` (-1, 0 or 1 along each direction) away from element e; -1 outside of the box.
std::int64_t neighbor(const box& b, std::int64_t e, std::array<int, 3> offset);

/// l(i,j,k,e): the node of the box that node i, j, k of element e is.
std::vector<std::int32_t> numbers_of_nodes(const box& b, std::int64_t order);

} // namespace ricci::bench::fem
