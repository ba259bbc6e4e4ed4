// text_scanner: reads a text's names, numbers and marks one after another, and says where it is wrong.
#pragma once

#include "lowering/statement.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ricci::dsl {

// The C library's classification depends on the locale.
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

/// Blanks out comments and newlines, so that columns stay what they were.
std::string on_one_line(std::string_view program);

/// Of one statement, the `number`-th of its program.
class text_scanner {
  public:
    text_scanner(std::string_view source, int number) : source_(source), number_(number) {}

  protected:
    void skip_blanks();
    /// The next character that is no blank; '\0' at the end.
    char peek();
    bool take(std::string_view token);
    void want(std::string_view token, const char* what);

    std::string_view name();
    std::int64_t integer();
    /// Of a range: an integer of any sign.
    std::int64_t bound();
    lowering::scalar scalar();

    [[noreturn]] void fail(std::size_t column, const std::string& message) const;
    [[noreturn]] void expected(const std::string& what);

    std::string_view source_;
    std::size_t at_ = 0;

  private:
    int number_;
};

} // namespace ricci::dsl
