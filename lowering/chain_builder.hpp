// chain_builder: makes the phases of a chain from steps of a plan.
#pragma once

#include "lowering/plan.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>

namespace ricci::lowering {

class chain_state;

/// Takes the steps of a chain one by one, in order.
class chain_builder {
  public:
    /// `own`: temporaries that no other step has (operand::source), each a slice for every value of `axis`.
    chain_builder(const plan& p, std::string_view axis, const std::set<std::int32_t>& own);
    ~chain_builder();

    /// Adds a step that has the axis; or says in a few words why it cannot be a part of this chain, which is then
    /// of no use any more.
    std::optional<std::string> add(const step& st);

    /// The chain of the steps added; what runs how many elements at a time is not chosen yet.
    chain finish() &&;

  private:
    std::unique_ptr<chain_state> state_;
};

} // namespace ricci::lowering
