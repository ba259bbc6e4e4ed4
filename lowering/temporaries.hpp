// temporaries: new memory in a plan, and the accesses and copies that go with it.
#pragma once

#include "lowering/plan.hpp"

#include <set>

namespace ricci::lowering {

/// |x|, also of the smallest number.
std::uint64_t magnitude(std::int64_t x);

/// A new temporary of the plan, dense over the axes marked in `present`, as an operand of steps with `axes`. Axes lie
/// in it in the order in which they lie in the operands `like` (by their largest stride there), so that what is
/// outermost stays so. Its size may saturate at 2^62 elements; whoever runs the plan finds that there is not enough
/// memory.
operand add_temporary(plan& p, const std::vector<axis>& axes, const std::vector<char>& present, scalar_type type,
                      const std::vector<operand>& like);

/// Elements an operand's present axes run over, saturating at 2^62.
std::int64_t element_count(const std::vector<axis>& axes, const std::vector<char>& present);

/// Whether a chain's slots can hold a temporary: they hold no integers. Pivots and infos lie in memory.
inline bool fits_slots(const temporary& t) { return !is_index(t.type); }

/// Those (operand::source) that steps [first, last] write and no other step has.
std::set<std::int32_t> own_temporaries(const plan& p, std::size_t first, std::size_t last);

/// The step target op= source, both operands over the axes of `from`, where their tables stand.
step copy_step(const step& from, operand target, assignment op, operand source, scalar_type compute);

/// Removes the axes that no operand of the step has and no sum names; operands and sums are renumbered.
void drop_unused_axes(step& st);

} // namespace ricci::lowering
