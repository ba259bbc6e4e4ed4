// text_access: reads the accesses of a text: names, positions, indices and index tables.
#pragma once

#include "dsl/text.hpp"
#include "dsl/text_scanner.hpp"

#include "lowering/statement.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ricci::dsl {

/// Of one statement, whose accesses, positions and indices it appends to `result_`. Names are views into the source.
class access_parser : protected text_scanner {
  protected:
    access_parser(std::string_view source, int number) : text_scanner(source, number) {
        result_.source = source;
        result_.number = number;
    }

    lowering::statement& out() { return result_.unbound; }

    /// Behind the name of a tensor, or `padded`, at `column`: the number of the access.
    std::int32_t access(std::size_t column, std::string_view word);
    /// An index and, where it stands, its range; the label's number.
    std::int32_t index();
    /// Whether between the parenthesis here and its partner a name has parentheses of its own that hold no integers,
    /// as an index's range would.
    bool holds_access() const;

    text_statement result_;

  private:
    /// An access that stands in a position, with its own positions; they are appended behind the access that it
    /// stands in.
    struct table {
        lowering::access access;
        std::vector<lowering::position> positions;
        std::int32_t gathered = 0; ///< the position
        std::size_t column = 0;
    };

    std::int32_t append(const lowering::access& a, std::size_t column);
    void positions(std::int32_t first);
    void position(std::int32_t first_position);
    /// `p(e)`, `distinct(p)(e)` or `atomic(p)(e)` in a position; false, with nothing taken, where it is none.
    bool gathered_position();
    [[noreturn]] void fail_as_table(std::size_t column, std::string_view word) const;
    /// Whether between the parenthesis here and its partner there is more than the integers of an index's range.
    bool holds_letter() const;
    /// One term of a position, added to what the position has; says whether it was an index and nothing else.
    bool term(lowering::position& p, bool negative);
    [[noreturn]] void overflow(std::size_t column) const;

    std::vector<table> tables_; ///< of the access that is being read
    std::size_t column_ = 0;    ///< of that access
    std::string_view word_;     ///< its name
    bool in_table_ = false;
};

} // namespace ricci::dsl
