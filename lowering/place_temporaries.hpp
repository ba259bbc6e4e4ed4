// place_temporaries: where each temporary lies in the workspace.
#pragma once

#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// For each temporary the chain that alone has it, in slots of its kernel if they can hold it, so that it takes no
/// memory; -1: none.
std::vector<std::int32_t> chains_that_keep(const plan& p);

/// Sets temporary::offset and of_slice, plan::workspace_bytes and slice_bytes. Temporaries that are never needed at
/// the same time share memory: steps run one after another. Throws where 64 bits do not hold the sizes
/// (blame::environment).
plan place_temporaries(plan p);

} // namespace ricci::lowering
