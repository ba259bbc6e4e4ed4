// lower: from a statement to a plan.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/tuning_table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ricci::lowering {

/// What one pass left behind, for explain and the golden dumps.
struct stage {
    std::string_view pass;
    std::string dump; ///< "(unchanged)" where the pass did nothing
};

/// The plan of `s` for a chip, of which `known` holds what was measured. Throws ricci::error for every mistake.
/// `dynamic_extents` asks for kernels that take every extent as an argument; `trace`, where given, receives a dump
/// per pass.
plan lower(const statement& s, const machine& chip, const priors& known = {}, bool dynamic_extents = false,
           std::vector<stage>* trace = nullptr);

} // namespace ricci::lowering
