// operands: the matrices and right-hand sides of a problem, in as many sets as no cache holds, with their originals.
#pragma once

#include "bench/device_memory.hpp"
#include "bench/device_tools.hpp"
#include "bench/factor/problem.hpp"

#include <ricci/lowering/statement.hpp>
#include <ricci/runtime/device.hpp>

#include <cstddef>
#include <vector>

namespace ricci::bench::factor {

class operands {
  public:
    /// Random numbers between -1 and 1, no larger ones on a diagonal: they would spare LU its exchanges. Cholesky's
    /// get a diagonal that makes them definite. Where factors are taken, ricci makes them. Takes `memory`, which
    /// grows where it is too small.
    operands(const problem& p, device where, device_tools& tools, bool only_one, device_memory& memory);

    const std::vector<operand_addresses>& sets() const { return sets_; }
    /// What is measured of ricci, on one of the sets.
    const lowering::statement& statement(std::size_t set) const { return statements_[set]; }

    /// Puts back a set's matrices, and its right-hand sides.
    void restore_matrices(std::size_t set) const { copy(set, at_A, at_original); }
    void restore_sides(std::size_t set) const { copy(set, at_X, at_given); }

  private:
    void copy(std::size_t set, operand_number to, operand_number from) const;
    void run(const std::string& text, std::size_t set) const;

    device where_;
    text_program notation_;
    std::vector<operand_addresses> sets_;
    std::vector<lowering::statement> statements_;
};

} // namespace ricci::bench::factor
