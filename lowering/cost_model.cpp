// cost_model: bytes, flops and roofline time of a step.
#include "lowering/cost_model.hpp"

#include "lowering/factor_layout.hpp"
#include "lowering/gathers.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/tile_transform.hpp"
#include "lowering/winograd_layout.hpp"

#include <algorithm>

namespace ricci::lowering {

estimate cost_model(const step& st, const machine& chip) {
    if (st.kernel == family::winograd) return winograd_cost(st, chip);
    if (st.kernel == family::tile_transform) return tile_transform_cost(st, chip);
    estimate out;
    if (st.matrices.task != matrix_task::none) {
        for (std::size_t o = 0; o < st.operands.size(); ++o) {
            const auto& here = st.operands[o];
            const double bytes =
                static_cast<double>(element_count(st.axes, here.present)) * static_cast<double>(size_of(here.type));
            const bool both = o == 0 && st.matrices.keeps_factors;
            out.bytes += both ? 2 * bytes : bytes;
        }
        out.flops = factor_flops(st);
        const double rate = real_of(st.compute) == scalar_type::f64 ? chip.flops_f64 : chip.flops_f32;
        out.seconds = std::max(out.bytes / chip.bandwidth, out.flops / rate) + chip.launch_seconds;
        return out;
    }
    for (std::size_t o = 0; o < st.operands.size(); ++o) {
        // A stride of 0 touches no new element; of a gathered position each entry may be another.
        const auto here = nominal(st, st.operands[o]);
        std::vector<char> touched(st.axes.size(), 0);
        for (std::size_t a = 0; a < touched.size(); ++a) touched[a] = here.stride[a] != 0;
        const double bytes =
            static_cast<double>(element_count(st.axes, touched)) * static_cast<double>(size_of(st.operands[o].type));
        out.bytes += o == 0 && st.op != assignment::assign ? 2 * bytes : bytes;
    }
    double evaluations = 1;
    for (std::size_t a = 0; a < st.axes.size(); ++a) {
        // each chunk has its part
        const bool cuts_sum = st.kernel == family::tall_skinny_atb && st.classes[a] == axis_class::other;
        if (!cuts_sum) evaluations *= static_cast<double>(st.axes[a].extent);
    }
    const auto arithmetic = std::count_if(st.nodes.begin(), st.nodes.end(), [](const node& n) {
        return arity(n.kind) > 0 && n.kind != operation::conjugate && n.kind != operation::negate;
    });
    out.flops = evaluations * static_cast<double>(arithmetic) * (is_complex(st.compute) ? 4 : 1);
    const double peak = real_of(st.compute) == scalar_type::f64 ? chip.flops_f64 : chip.flops_f32;
    out.seconds = std::max(out.bytes / chip.bandwidth, out.flops / peak) + chip.launch_seconds;
    return out;
}

bool keeps_busy(const step& st, const machine& chip) {
    return cost_model(st, chip).bytes >= bytes_of_a_busy_processor * chip.processors;
}

} // namespace ricci::lowering
