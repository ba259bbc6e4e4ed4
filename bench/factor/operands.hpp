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

/// What a call spoils, and so has to be put back before the next: a set's matrices in A, its right-hand sides in X
/// and, of least squares, in the peers' array.
struct copies {
    bool matrices = false, sides = false, work = false;
    bool any() const { return matrices || sides || work; }
    bool operator==(const copies&) const = default;
};

/// What ricci's own calls spoil.
copies spoiled_by(routine r);

/// Makes kernels for all of them before the first is measured, on all threads of the host. What is wrong with one is
/// for its own measurement to find.
void compile_ahead(const std::vector<problem>& all, device where);

class operands {
  public:
    /// Random numbers between -1 and 1, no larger ones on a diagonal: they would spare LU its exchanges. Those of
    /// which a triangle is read get a diagonal that makes them definite. Where factors are taken, ricci makes them.
    /// Takes `memory`, which grows where it is too small.
    operands(const problem& p, device where, device_tools& tools, bool only_one, device_memory& memory);

    const std::vector<operand_addresses>& sets() const { return sets_; }
    /// What is measured of ricci, on one of the sets.
    const lowering::statement& statement(std::size_t set) const { return statements_[set]; }

    void restore(std::size_t set, const copies& which) const;

  private:
    void copy(std::size_t set, operand_number to, operand_number from) const;
    void run(const std::string& text, std::size_t set) const;

    device where_;
    text_program notation_;
    std::vector<operand_addresses> sets_;
    std::vector<lowering::statement> statements_;
};

} // namespace ricci::bench::factor
