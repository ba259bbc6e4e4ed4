// tree_source: the constants and arguments of kernels/direct_tree.hpp, for the kernels that evaluate any right side.
#pragma once

#include "runtime/kernel_source.hpp"
#include "runtime/prelude.hpp"

#include <cstdint>

namespace ricci::runtime {

/// All constants but left_axis_count.
void write_tree(prelude& out, const lowering::step& st);

/// The words of `struct arguments` but the last two, work_items and teams.
void pack_tree(kernel_request& out, const lowering::step& st, const lowering::machine& chip);

/// A step whose tree is what stands around `node`, for which an access of `operand` stands; without sums.
lowering::step around_node(lowering::step st, std::int32_t node, std::int32_t operand);

} // namespace ricci::runtime
