// text: the notation as text, "C(i,j) = A(i,k)*B(k,j); D(i) += C(i,i)", parsed and bound to operands at run time.
//
//     program   = statement { ";" statement }           newlines are blanks; # and // comment out the rest of a line
//     statement = access ( "=" | "+=" | "-=" ) sum | [ access { "," access } "=" ] call
//     call      = routine "(" ( access | "conj" "(" access ")" ) "," index "," index { "," ( access | option ) } ")"
//                                                       routines and their options: text_call.hpp, text_roles.hpp
//     sum       = product { ( "+" | "-" ) product }
//     product   = factor { ( "*" | "/" ) factor }
//     factor    = ( "+" | "-" ) factor | "(" sum ")" | number | access
//               | ( "conj" | "relu" | "exp" | "sqrt" | "abs" ) "(" sum ")" | ( "min" | "max" ) "(" sum "," sum ")"
//     access    = name [ "(" [ position { "," position } ] ")" ] | "padded" "(" name ")" "(" position ... ")"
//     position  = [ "+" | "-" ] term { ( "+" | "-" ) term } | table "(" position { "," position } ")"
//     table     = name | ( "distinct" | "atomic" ) "(" name ")"
//                                                       of integers, whose entry is the position: A(i, k, p(e))
//     term      = part { "*" part }                     at most one part is an index
//     part      = integer | index [ "(" bound "," bound ")" ]     bound = [ "+" | "-" ] integer
//     number    = decimal, with or without point and exponent; an "i" right behind it makes it imaginary: 2.5i
//
// Names are letters, digits and underscores. A tensor of rank 0 is written s() or s.
#pragma once

#include "lowering/error.hpp"
#include "lowering/statement.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ricci {

/// A tensor that a text may name.
struct text_operand {
    std::string name;
    lowering::scalar_type type = lowering::scalar_type::f64;
    std::vector<std::int64_t> extents;
    std::vector<std::int64_t> strides; ///< elements
    void* data = nullptr;              ///< element (0, ..., 0)
    std::int32_t device = 0;           ///< 0 the CPU, n + 1 CUDA device n
};

/// One statement of a text, not yet bound: its accesses have names and positions, but no data, extents or strides.
struct text_statement {
    std::string source; ///< on one line, without comments
    int number = 1;     ///< in its program, from 1
    lowering::statement unbound;
    std::vector<std::size_t> access_columns; ///< where each access stands in `source`, from 0
    std::vector<std::size_t> label_columns;  ///< where each index stands first

    /// The tensor that is assigned to; of a call the matrix.
    std::string_view left() const { return unbound.accesses[0].name; }
    bool is_call() const { return unbound.is_call(); }
    /// Whether the statement writes the tensor of access n, and whether it wants it to have values before.
    bool writes(std::size_t n) const;
    bool reads(std::size_t n) const;
    /// Whether an access that wants values, or that is written, has this name.
    bool reads(std::string_view name) const;
    bool writes(std::string_view name) const;
    /// Whether access n gives positions of another one.
    bool is_table(std::size_t n) const;
    /// Whether access n is of integers: such a one, pivots or info.
    bool is_of_integers(std::size_t n) const;
    /// Refuses access n of a tensor with so many axes, where these are not as many as its positions.
    void check_axes(std::size_t n, std::size_t axes) const;
    /// What to add to a message about access n, of no tensor: nothing, or that n(0, N) is an index with a range only
    /// where both ends are integers.
    std::string hint_about(std::size_t n) const;
    /// What to say of access n, of no tensor, where it looks like the call of a routine that there is not; else
    /// nothing: choleksy(A(i,j,e), i, j) could be an entry of a tensor, whose first position is another's entry.
    std::string mistaken_call(std::size_t n) const;
};

/// Whether `name` can name a tensor: an identifier that is none of the functions' names.
bool is_text_name(std::string_view name);

/// The statements of a program, at least one. Throws ricci::error with the statement, the column and what was
/// expected.
std::vector<text_statement> parse_text(std::string_view program);

/// The tensor that the left side of `s` becomes where no operand has its name: dense, first index fastest, without
/// data, to be zero where the statement does not write. Its extents are the upper ends of its indices' ranges (one
/// more than the largest value of a fixed or affine position), its type is the promotion of the right side's operand
/// types (f64 without operands; complex where a scalar is). An index that only affine positions bound runs from 0 as
/// far as every position outside of padded(...) stays inside; the range found is written into `s`. Throws
/// ricci::error for += and -=, and where an index is left without a range.
text_operand create_left(text_statement& s, std::span<const text_operand> operands);

/// The same of access n, which the statement only writes: its left side, or a result of a call.
text_operand create_written(text_statement& s, std::size_t n, std::span<const text_operand> operands);

/// `s` with the data, types, extents and strides of `operands`. Throws ricci::error where a name is missing or an
/// access has more or fewer positions than its tensor has axes; what else can be wrong is found when the statement
/// runs.
lowering::statement bind_text(const text_statement& s, std::span<const text_operand> operands);

/// Throws ricci::error for a mistake at byte `column` of `source`: the message, the statement and a caret under the
/// column, which the message counts in characters.
[[noreturn]] void fail_in_text(std::string_view source, int number, std::size_t column, const std::string& message);

} // namespace ricci
