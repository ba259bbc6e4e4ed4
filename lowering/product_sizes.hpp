// product_sizes: what the models of a product's kernels count with.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

struct product_sizes {
    std::int64_t m, n, k;
    int c_bytes, x_bytes, y_bytes;
    int words; ///< 4-byte registers of one number in the compute type
    bool complex, doubles;
};

product_sizes sizes_of(const step& st);

} // namespace ricci::lowering
