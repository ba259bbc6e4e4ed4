// text_scanner: reads a text's names, numbers and marks one after another, and says where it is wrong.
#include "dsl/text_scanner.hpp"

#include "dsl/text.hpp"
#include "dsl/text_mistake.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace ricci::dsl {

std::string on_one_line(std::string_view program) {
    std::string line(program);
    bool comment = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\n') comment = false;
        if (line[i] == '#' || (line[i] == '/' && i + 1 < line.size() && line[i + 1] == '/')) comment = true;
        if (comment || is_blank(line[i])) line[i] = ' ';
    }
    return line;
}

void text_scanner::skip_blanks() {
    while (at_ < source_.size() && is_blank(source_[at_])) ++at_;
}

char text_scanner::peek() {
    skip_blanks();
    return at_ < source_.size() ? source_[at_] : '\0';
}

bool text_scanner::take(std::string_view token) {
    skip_blanks();
    if (!source_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
}

void text_scanner::want(std::string_view token, const char* what) {
    if (!take(token)) expected(what);
}

std::string_view text_scanner::name() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < source_.size() && (is_letter(source_[at_]) || is_digit(source_[at_]))) ++at_;
    return source_.substr(begin, at_ - begin);
}

std::int64_t text_scanner::integer() {
    skip_blanks();
    std::int64_t value = 0;
    const char* first = source_.data() + at_;
    const auto [end, problem] = std::from_chars(first, source_.data() + source_.size(), value);
    if (problem == std::errc::result_out_of_range) fail(at_, "the integer does not fit in 64 bits");
    const std::size_t begin = std::exchange(at_, static_cast<std::size_t>(end - source_.data()));
    if (at_ < source_.size() && (is_letter(source_[at_]) || source_[at_] == '.'))
        fail(begin, "expected an integer or an index, found a number");
    return value;
}

std::int64_t text_scanner::bound() {
    const bool negative = peek() == '-';
    if (negative || peek() == '+') ++at_;
    if (!is_digit(peek())) expected("an integer: the range of an index is written m(begin, end)");
    const std::int64_t value = integer();
    return negative ? -value : value;
}

lowering::scalar text_scanner::scalar() {
    double value = 0;
    const std::size_t begin = at_;
    const auto [end, problem] = std::from_chars(source_.data() + at_, source_.data() + source_.size(), value);
    if (problem == std::errc::invalid_argument) expected("a number");
    if (problem == std::errc::result_out_of_range) fail(begin, "the number does not fit in a double");
    at_ = static_cast<std::size_t>(end - source_.data());
    const bool imaginary = at_ < source_.size() && source_[at_] == 'i';
    if (imaginary) ++at_;
    if (at_ < source_.size() && (is_letter(source_[at_]) || is_digit(source_[at_]) || source_[at_] == '.'))
        expected("an operator behind the number");
    return {imaginary ? 0 : value, imaginary ? value : 0, imaginary};
}

void text_scanner::fail(std::size_t column, const std::string& message) const {
    fail_in_text(source_, number_, column, message);
}

void text_scanner::expected(const std::string& what) {
    skip_blanks();
    if (at_ == source_.size()) fail(at_, fmt::format("expected {}, found the end", what));
    const std::size_t bytes = character_bytes(source_.substr(at_));
    if (bytes == 0)
        fail(at_, fmt::format("expected {}, found byte 0x{:02x}", what, static_cast<unsigned char>(source_[at_])));
    fail(at_, fmt::format("expected {}, found '{}'", what, source_.substr(at_, bytes)));
}

} // namespace ricci::dsl
