// product_sizes: what the models of a product's kernels count with.
#include "lowering/product_sizes.hpp"

#include "lowering/families.hpp"

namespace ricci::lowering {

product_sizes sizes_of(const step& st) {
    using enum axis_class;
    const auto bytes = [&](std::int32_t o) {
        return static_cast<int>(size_of(st.operands[static_cast<std::size_t>(o)].type));
    };
    return {extent_of(st, m),
            extent_of(st, n),
            extent_of(st, k),
            bytes(0),
            bytes(st.x),
            bytes(st.y),
            static_cast<int>(size_of(st.compute) / 4),
            is_complex(st.compute),
            real_of(st.compute) == scalar_type::f64};
}

} // namespace ricci::lowering
