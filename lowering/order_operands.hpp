// order_operands: splits products of many operands into pairs, and sums of products into one step each.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Every sum over a product of three or more factors is contracted pair by pair, in the order of least cost (flops,
/// then bytes): exact by dynamic programming over subsets for up to 12 factors, greedy above. Intermediates are
/// temporaries in the step's compute type. Done only where it costs less than evaluating the product at once,
/// launches included. A matrix product beside other terms, or inside a function, gets a step of its own.
/// `in_program`: others stand beside it, with which it may be fused.
plan order_operands(plan p, const machine& chip, bool in_program);

} // namespace ricci::lowering
