// matrix_problem_statement: a matrix problem's operands, placed, and its call.
#pragma once

#include "tests/kernels/matrix_problem_operand.hpp"

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace ricci::tests {

/// Routines by what they have.
bool takes_factors(lowering::routine what);
bool has_right_sides(lowering::routine what);

/// A problem's call but for its operands.
lowering::matrix_call call_of(const matrix_problem& p);

/// The operands of a problem by role, null where it has none, in memory that holds nothing yet.
class problem_operands {
  public:
    explicit problem_operands(const matrix_problem& p);

    const matrix_operand* in(lowering::matrix_role r) const { return of_role_[static_cast<std::size_t>(r)].get(); }
    /// The buffers that they lie in, each once.
    std::vector<host_buffer*> buffers() const;
    /// The call with operands whose buffers are at `data` on a device.
    lowering::statement call(std::int32_t device, std::span<std::byte* const> data) const;

  private:
    void add(lowering::matrix_role role, lowering::scalar_type type, std::vector<operand_index> own,
             matrix_layout layout, place_freedom may = {});
    void lay_given_over_solution();
    std::vector<operand_index> sides_behind(std::int32_t rows, std::int64_t extent) const;
    std::int64_t begin_of(std::int32_t label) const { return begins_[static_cast<std::size_t>(label)]; }

    const matrix_problem& p_;
    std::mt19937_64 random_;
    std::array<std::int64_t, 7> begins_{}; ///< of the indices
    std::array<std::unique_ptr<matrix_operand>, lowering::matrix_roles> of_role_;
};

/// Has the call launched on a device, where the operands are copied to, and fetches what they hold then.
void run_on_device(const problem_operands& operands, std::int32_t device,
                   const std::function<void(const lowering::statement&)>& launch);

} // namespace ricci::tests
