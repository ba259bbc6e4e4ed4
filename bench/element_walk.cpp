// element_walk: the elements of C in the order of its memory.
#include "bench/element_walk.hpp"

#include <algorithm>

namespace ricci::bench {

element_walk walk_of(const product& p) {
    struct index {
        std::int64_t extent, in_c, in_a, in_b;
        bool batch;
    };
    std::array<index, 3> all{{{p.m, p.c.row_stride, p.a.row_stride, 0, false},
                              {p.n, p.c.column_stride, 0, p.b.column_stride, false},
                              {p.batch, p.c.batch_stride, p.a.batch_stride, p.b.batch_stride, true}}};
    // An index of one value says nothing of the order, whatever its stride.
    std::stable_sort(all.begin(), all.end(), [](const index& l, const index& r) {
        return (l.extent == 1 ? 0 : l.in_c) < (r.extent == 1 ? 0 : r.in_c);
    });
    element_walk walk;
    for (std::size_t n = 0; n < all.size(); ++n) {
        walk.extent[n] = all[n].extent;
        walk.stride[0][n] = all[n].in_c, walk.stride[1][n] = all[n].in_a, walk.stride[2][n] = all[n].in_b;
        walk.elements *= all[n].extent;
        if (all[n].batch) walk.batch = static_cast<int>(n);
    }
    return walk;
}

} // namespace ricci::bench
