// passes: the two parts of the ordered list of passes, around what may join steps of several statements.
#pragma once

#include "lowering/lower.hpp"

#include <functional>
#include <string>

namespace ricci::lowering {

/// Takes a pass's name and result, and hands the result on.
using pass_observer = std::function<plan(std::string_view, plan)>;

/// Keeps a dump of each pass's result, where it is asked for; a note stands at the pass that made it.
class pass_tracer {
  public:
    pass_tracer(const statement& s, std::vector<stage>* trace) : s_(s), trace_(trace) {}
    plan operator()(std::string_view name, plan result);

  private:
    const statement& s_;
    std::vector<stage>* trace_;
    std::string last_;
    std::size_t notes_ = 0; ///< dumped already
};

/// A statement as steps of two operands at most, where that pays; overlaps are made safe.
plan split_into_steps(const statement& s, const machine& chip, bool in_program, const pass_observer& pass);

/// Kernels for all steps, and places for the temporaries.
plan choose_kernels(plan p, const machine& chip, const priors& known, bool dynamic_extents, const pass_observer& pass);

} // namespace ricci::lowering
