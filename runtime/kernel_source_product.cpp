// kernel_source_product: which family's function makes the request for a step.
#include "runtime/kernel_source_families.hpp"

namespace ricci::runtime {

namespace {

kernel_request of_family(const lowering::step& st, const lowering::machine& chip) {
    using enum lowering::family;
    switch (st.kernel) {
    case direct:
        return make_direct(st, chip);
    case scatter:
        return make_scatter(st, chip);
    case winograd:
        return make_winograd(st, chip);
    case tile_transform:
        return make_tile_transform(st, chip);
    case factor_lanes:
    case factor_block:
    case factor_blocked:
    case substitute:
        return make_factor(st, chip);
    case batched_small:
    case batched_lanes:
    case batched_panels:
    case batched_blocked:
    case gett:
    case batched_stationary:
        return make_batched(st, chip);
    default:
        return make_tall_skinny(st, chip);
    }
}

} // namespace

kernel_request make_kernel(const lowering::step& st, const lowering::machine& chip) {
    auto out = of_family(st, chip);
    out.shape.starts_early = true; // all of kernels/ first wait, as tests/structure checks
    for (auto& kernel : out.behind) kernel.shape.starts_early = true;
    return out;
}

kernel_request make_kernel_of(const lowering::plan& p, std::size_t step, const lowering::machine& chip) {
    const auto& st = p.steps[step];
    return st.chain < 0 ? make_kernel(st, chip) : make_chain(p.chains[static_cast<std::size_t>(st.chain)], chip);
}

} // namespace ricci::runtime
