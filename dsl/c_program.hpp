// c_program: a text bound to the operands that the C interface was given, to be run with other pointers.
#pragma once

#include "dsl/text.hpp"
#include "lowering/statement.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::dsl {

/// A tensor, or a number on the host, which becomes a scalar of the statements that name it.
struct c_operand {
    text_operand tensor;
    bool is_number = false;
};

/// Not changed by a run: threads may run one at the same time.
class c_program {
  public:
    /// Throws ricci::error for a wrong text, a name that is neither an operand nor made by an earlier statement, a
    /// result that nothing reads, an operand that nothing uses.
    c_program(std::string_view text, std::vector<c_operand> operands);

    std::size_t operand_count() const { return operands_.size(); }
    /// An operand that is a number, for which `data` (by operand; null: its own) has none; else null.
    const c_operand* number_without_data(void* const* data) const;

    /// Compiles the kernels. What has no memory counts as aligned, and apart from the rest.
    void prepare() const;
    /// Each operand's data are those of `data`, or its own where that is null. Intermediates get memory.
    void run(void* const* data) const;
    std::string explain() const;

  private:
    /// An access or a scalar of a statement that an operand gives.
    struct place {
        std::size_t number = 0, operand = 0;
    };
    struct bound_statement {
        lowering::statement statement;
        std::vector<place> accesses, scalars;
    };

    void take_numbers(text_statement& s, bound_statement& out) const;
    void resolve(text_statement& s, const std::vector<text_statement>& all);
    void bind(const text_statement& s, bound_statement& out) const;
    void refuse_unused() const;
    void write_data(const bound_statement& s, void* const* data, lowering::statement& out) const;
    std::vector<lowering::statement> with_some_memory() const;

    std::vector<c_operand> operands_;
    std::vector<text_operand> tensors_;   ///< operands that are no numbers, then intermediates
    std::vector<std::size_t> operand_of_; ///< of the former
    std::vector<std::int32_t> locals_;    ///< of the latter
    std::vector<bound_statement> statements_;
};

} // namespace ricci::dsl
