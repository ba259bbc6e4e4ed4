// gathers: what passes ask of operands whose positions index tables give.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Whether tables give a position of an operand that the step reads or writes.
bool is_gathered(const step& st);

/// What becomes of equal entries of the tables that give the output's positions.
collision collision_of(const step& st);

/// The table that gives the addresses of an operand's matrices, or null.
const operand* table_of_addresses(const step& st, const operand& o);

/// Whether a table of `o` has the axis.
bool is_gathered_along(const step& st, const operand& o, std::size_t axis);

/// Whether tables give where each matrix of a product's batch lies, and nothing else: at most one table an operand,
/// over axes of the batch only.
bool is_gathered_by_batch(const step& st);

/// Elements of an operand that the step reaches, at most: tables name each of their positions.
std::int64_t most_elements(const step& st, const operand& o);

/// `o` without its tables, its strides as if their entries counted up from 0; matrices at addresses count as far
/// apart.
operand nominal(const step& st, const operand& o);

/// Appends to `out` the tables of its operands, whose numbers count in `from` still.
void take_tables(step& out, const step& from);

} // namespace ricci::lowering
