// join_statements: the statements of a program, one behind another, as one.
#pragma once

#include "lowering/statement.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// Replaces `out` by all that stands in the statements but their trees: accesses, scalars and the rest count on from
/// statement to statement. For launching what was lowered from them. Takes no memory once `out` has grown.
void join_statements(const std::vector<statement>& statements, statement& out);

/// Gives each local an address of its own, far from all memory and from each other, so that passes see a tensor apart
/// from all others, and a number by its first use: programs that differ in their locals' numbers only become the same.
/// Appends to `locals` what each access of the statements is: the local's number, or no_local.
void place_locals(std::vector<statement>& statements, std::vector<std::int32_t>& locals);

/// For each access of the joined statements the first one that is the same tensor (`same`), and the first one whose
/// memory its own may overlap, directly or by way of others (`memory`).
struct shared_memory_of_accesses {
    std::vector<std::int32_t> same, memory;
};
void find_shared_memory(const std::vector<statement>& statements, shared_memory_of_accesses& out);
/// The same for one statement.
std::vector<std::int32_t> same_accesses(const statement& s);

} // namespace ricci::lowering
