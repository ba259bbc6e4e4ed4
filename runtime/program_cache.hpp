// program_cache: programs whose statements are fused, prepared once for each structure.
#pragma once

#include "lowering/lower_program.hpp"
#include "runtime/executable.hpp"

#include <memory>
#include <vector>

namespace ricci::runtime {

/// A program as it is launched; kept from call to call, so that a warm one takes nothing from the heap.
struct placed_program {
    std::vector<lowering::statement> statements; ///< their locals placed
    lowering::statement joined;

    /// Takes the statements over. False where nothing is to be won: fewer than two, several devices, neither locals
    /// nor what adds through tables in order.
    bool take(const std::vector<lowering::statement>& from);

    std::vector<std::int32_t> locals;
    lowering::shared_memory_of_accesses shared;
};

/// The executable of a program that gains by running as one; null where none does: then its statements run one by
/// one. Throws ricci::error for every mistake, before anything has run.
std::shared_ptr<const executable> find_fused(const placed_program& p);

/// Whether a plan of several statements gains by running as one: something is fused, or locals stay in memory.
bool is_better_as_one(const lowering::plan& p, const lowering::machine& chip);

/// The plan, for explain.
lowering::plan plan_of(const placed_program& p, std::vector<lowering::stage>* trace);

/// Plans are made anew: measurements are chosen in another way now.
void forget_programs();

} // namespace ricci::runtime
