// element_walk: the elements of C in the order of its memory, as plain loops go over them.
#pragma once

#include "bench/product.hpp"

#include <array>
#include <cstdint>

namespace ricci::bench {

/// C's three indices, the fastest in memory first, and what each moves in C, A and B.
struct element_walk {
    std::array<std::int64_t, 3> extent{1, 1, 1};
    std::array<std::array<std::int64_t, 3>, 3> stride{}; ///< [C, A, B][index]
    std::int64_t elements = 1;
    int batch = 2; ///< which index is the batch's
};

element_walk walk_of(const product& p);

} // namespace ricci::bench
