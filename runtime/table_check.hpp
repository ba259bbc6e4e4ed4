// table_check: whether the entries of index tables are positions of the tensors that they gather from.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/statement.hpp"
#include "runtime/backend.hpp"

#include <vector>

namespace ricci::runtime {

/// Whether tables are checked before a launch on `d`: always on the CPU, which reads them at once; elsewhere, where
/// they must be copied to the host first, only with RICCI_CHECK or RICCI_DEBUG in the environment, and in debug builds.
bool checks_tables(device d);

/// Throws ricci::error naming the first entry that is no position; where such checks are asked for, also two that are
/// equal of a table that is distinct. Waits for the device, if it is not the CPU; does nothing while its stream is
/// captured. Takes no memory on the CPU where nothing is asked for.
void check_tables(const std::vector<lowering::table_check>& checks, const lowering::statement& s, device d,
                  backend& b);

} // namespace ricci::runtime
