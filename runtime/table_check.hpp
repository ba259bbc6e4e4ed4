// table_check: whether the entries of index tables are positions of the tensors that they gather from, and pivots
// rows.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/statement.hpp"
#include "runtime/backend.hpp"

#include <span>

namespace ricci::runtime {

/// Whether a table is checked before each launch on `d`: always on the CPU, which reads it at once; elsewhere, where
/// it must be copied to the host first, only with RICCI_CHECK or RICCI_DEBUG in the environment, and in debug builds.
/// Pivots on the CPU too only then: on one core (2026-11-27) it took 5 to 35% longer to solve with factors of 2 to 16
/// rows.
bool is_checked(const lowering::table_check& check, device d);

/// From now on all is checked, as with RICCI_CHECK; or again what the environment asks for.
void check_all(bool always);

/// Whether a statement adds through a table that a call among the statements `before` it of the same program writes,
/// so that neither its entries nor the table's inverse are known before that has run.
bool adds_through_results(const lowering::statement& s, std::span<const lowering::statement> before);

/// Throws ricci::error naming the first entry that is no position, or the first pivot that is no row; where such
/// checks are asked for, also two that are equal of a table that is distinct. Leaves out what is written by calls
/// among the statements `before` it of the same program, which have not run yet. Waits for the device, if it is not
/// the CPU; does nothing while its stream is captured. Takes no memory on the CPU where nothing is asked for.
void check_tables(std::span<const lowering::table_check> checks, const lowering::statement& s,
                  std::span<const lowering::statement> before, device d, backend& b);

} // namespace ricci::runtime
