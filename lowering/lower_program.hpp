// lower_program: from the statements of a program to one plan.
#pragma once

#include "lowering/join_statements.hpp"
#include "lowering/lower.hpp"

#include <vector>

namespace ricci::lowering {

/// The plan of statements that run one after another, whose locals are temporaries. Operands' sources are the accesses
/// of the joined statements. `locals` and `shared` as place_locals and find_shared_memory leave them. Throws
/// ricci::error for every mistake.
plan lower_program(const std::vector<statement>& statements, const std::vector<std::int32_t>& locals,
                   const shared_memory_of_accesses& shared, const machine& chip, const priors& known = {},
                   std::vector<stage>* trace = nullptr);

} // namespace ricci::lowering
