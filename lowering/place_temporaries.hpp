// place_temporaries: where each temporary lies in the workspace.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Sets temporary::offset and of_slice, plan::workspace_bytes and slice_bytes. Temporaries that are never needed at
/// the same time share memory: steps run one after another. Throws where 64 bits do not hold the sizes
/// (blame::environment).
plan place_temporaries(plan p);

} // namespace ricci::lowering
