// text_call: reads calls of factorizations and solves in a text, `piv(k,e), info(e) = lu(A(i,j,e), i, j)`.
#pragma once

#include "dsl/text_access.hpp"

#include "lowering/matrix_call.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ricci::dsl {

class call_parser : protected access_parser {
  protected:
    using access_parser::access_parser;

    /// A call of a routine that gives so many results, if one stands here.
    bool called(std::size_t results);
    /// Throws where all that stands here is the call of something that is nearly a routine.
    void refuse_misspelt_call();

  private:
    /// A name, which has no namespace in a text.
    std::string_view plain_name();
    void matrix();
    void operand(const char* what);
    /// Refuses what begins no operand: `what` was expected.
    void check_operand_begins(const char* what);
    /// The number of an index that stands by itself.
    std::int32_t bare_index();
    /// Options and operands behind the matrix and its indices.
    void options();
    void option(std::size_t column, lowering::call_option said);
    bool is_said(lowering::call_option choice) const;

    std::vector<lowering::call_option> said_;
};

} // namespace ricci::dsl
