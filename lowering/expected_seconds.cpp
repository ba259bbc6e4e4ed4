// expected_seconds: how long the model expects a plan to take.
#include "lowering/expected_seconds.hpp"

#include "lowering/chain_shape.hpp"
#include "lowering/core_rates.hpp"
#include "lowering/cost_model.hpp"
#include "lowering/gett_product.hpp"
#include "lowering/sm_limits.hpp"
#include "lowering/temporaries.hpp"
#include "lowering/tile_candidates.hpp"
#include "lowering/tile_transform.hpp"
#include "lowering/winograd_layout.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

/// A BLAS's products a second over those of a GPU's multiply-adders in f32, as data sheets have them.
double tensor_cores(const step& st, const machine& chip) {
    if (chip.kind == target::cpu || st.compute != scalar_type::f32) return 1;
    const bool is_narrow = size_of(st.operands[static_cast<std::size_t>(st.x)].type) == 2;
    if (!is_narrow && st.math != math_mode::tf32) return 1;
    switch (const int capability = capability_of(chip, 90)) {
    case 80:
        return is_narrow ? 16 : 8; // A100
    case 90:
        return is_narrow ? 14 : 7; // H100
    case 100:
    case 103:
        return is_narrow ? 28 : 14; // B200
    default:
        return is_narrow && capability > 80 ? 2 : 1;
    }
}

/// Without parameters: what a kernel that evaluates element by element, or a library, makes of the roofline.
double roofline_seconds(const step& st, const machine& chip) {
    const auto cost = cost_model(st, chip);
    const double peak = real_of(st.compute) == scalar_type::f64 ? chip.flops_f64 : chip.flops_f32;
    const bool sums = !st.sums.empty();
    // Sums by the direct kernel: 4.9e12 multiply-adds a second of an H100's 33e12, a tenth of a CPU's.
    const bool is_padded =
        std::any_of(st.operands.begin(), st.operands.end(), [](const operand& o) { return !o.bounds.empty(); });
    if (chip.kind == target::cpu && is_padded) {       // one by one (EPYC: 2 ns for each output of 6x6 tiles)
        constexpr double of_output = 7, of_term = 1.5; // cycles
        double terms = 1;
        for (const auto& a : st.axes) terms *= static_cast<double>(a.extent);
        const double outputs = static_cast<double>(element_count(st.axes, st.operands[0].present));
        const double cycles = of_output * outputs + (st.sums.empty() ? 0 : of_term * terms);
        return std::max(cost.seconds, cycles / core_clock(st, chip));
    }
    const double part = st.kernel == family::library ? 0.7 * tensor_cores(st, chip) : !sums ? 1 : 0.1;
    return std::max(cost.bytes / chip.bandwidth, cost.flops / (part * peak)) + chip.launch_seconds;
}

/// Whether the model of a kernel has what it takes to start it in its seconds.
bool counts_start(const step& st, const machine& chip) {
    return chip.kind == target::cuda && st.kernel != family::batched_small && st.kernel != family::batched_lanes &&
           st.kernel != family::batched_stationary;
}

double seconds_of(const plan& p, const step& st, const machine& chip) {
    if (st.chain >= 0) return chain_seconds(p.chains[static_cast<std::size_t>(st.chain)], chip);
    if (st.kernel == family::winograd) return winograd_seconds(st, st.batched, chip);
    if (st.kernel == family::tile_transform) return tile_transform_seconds(st, chip);
    if (st.matrices.task != matrix_task::none) return predicted_seconds(st, st.batched, chip);
    if (!has_tile(st, chip)) return roofline_seconds(st, chip);
    const double memory = cost_model(st, chip).bytes / chip.bandwidth; // models of arithmetic leave it out
    const double predicted =
        st.kernel == family::gett ? gett_seconds_here(st, st.batched, chip) : predicted_seconds(st, st.batched, chip);
    return std::max(predicted, memory) + (counts_start(st, chip) ? 0 : chip.launch_seconds);
}

} // namespace

double expected_seconds(const plan& p, const machine& chip) {
    double sum = 0;
    for (std::size_t n = 0; n < p.steps.size(); ++n) {
        const auto& st = p.steps[n];
        if (!begins_kernel(p, n)) continue;
        const double times =
            st.group >= 0 ? static_cast<double>(p.groups[static_cast<std::size_t>(st.group)].count) : 1;
        sum += times * seconds_of(p, st, chip);
    }
    return sum;
}

} // namespace ricci::lowering
