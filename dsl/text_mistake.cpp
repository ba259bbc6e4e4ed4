// text_mistake: shows the place of a mistake in a text, in whatever characters it is written.
#include "dsl/text_mistake.hpp"

#include "dsl/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ricci {

namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; } // in UTF-8

/// `text` with a ? for each byte that cannot be printed.
std::string printable(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t bytes = dsl::character_bytes(text);
        result += bytes > 0 ? text.substr(0, bytes) : "?";
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return result;
}

/// How many characters printable(text) has.
std::size_t characters(std::string_view text) {
    const std::string shown = printable(text);
    return shown.size() - static_cast<std::size_t>(std::count_if(shown.begin(), shown.end(), continues_character));
}

} // namespace

std::size_t dsl::character_bytes(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.empty() ? '\0' : text[0]);
    if (lead < 0x80) return lead >= ' ' && lead <= '~' ? 1 : 0;
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc0 || lead >= 0xf8 || text.size() < bytes) return 0;
    char32_t code = lead & (0x7fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if (!continues_character(text[i])) return 0;
        code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
    }
    constexpr char32_t smallest[] = {0, 0, 0xa0, 0x800, 0x10000}; // below 0xa0: controls, and ASCII made long
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return code >= smallest[bytes] && code < 0x110000 && !surrogate ? bytes : 0;
}

void fail_in_text(std::string_view source, int number, std::size_t column, const std::string& message) {
    constexpr std::size_t before = 60, after = 40; // what of a long statement is shown
    std::size_t begin = column > before ? column - before : 0, end = std::min(source.size(), column + after);
    while (begin < column && continues_character(source[begin])) ++begin;
    while (end > column && end < source.size() && continues_character(source[end])) --end;
    const std::string_view cut = begin > 0 ? "..." : "";
    throw error(fmt::format("statement {}, column {}: {}\n    {}{}{}\n    {:>{}}", number,
                            characters(source.substr(0, column)) + 1, printable(message), cut,
                            printable(source.substr(begin, end - begin)), end < source.size() ? "..." : "", '^',
                            cut.size() + characters(source.substr(begin, column - begin)) + 1));
}

} // namespace ricci
