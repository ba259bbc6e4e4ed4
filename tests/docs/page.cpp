// page: reads Markdown, as far as the pages of docs/ use it.
#include "tests/docs/page.hpp"

#include <fstream>
#include <stdexcept>

namespace ricci::tests {
namespace {

std::string trimmed(const std::string& text, const char* what) {
    const auto first = text.find_first_not_of(what);
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(what) - first + 1);
}

table_row read_row(const std::string& text, int line) {
    table_row row{line, {}};
    std::string cell;
    for (std::size_t at = 1; at < text.size(); ++at) {
        const bool escaped = text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '|';
        if (escaped) ++at;
        if (text[at] == '|' && !escaped) {
            row.cells.push_back(trimmed(trimmed(cell, " "), "`"));
            cell.clear();
        } else {
            cell += text[at];
        }
    }
    return row;
}

bool is_rule(const std::string& text) { return text.find_first_not_of("|-: ") == std::string::npos; }

} // namespace

page read_page(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error("cannot read " + file.string());
    page out;
    std::string heading, text;
    code_block* open = nullptr;
    bool in_table = false;
    for (int line = 1; std::getline(stream, text); ++line) {
        const bool fence = text.starts_with("```");
        if (open != nullptr) {
            if (fence)
                open = nullptr;
            else
                open->lines.push_back(text);
            continue;
        }
        const bool row = text.starts_with('|');
        if (fence) {
            const auto blank = std::min(text.find(' '), text.size());
            out.blocks.push_back(
                {text.substr(3, blank - 3), trimmed(text.substr(blank), " "), heading, line + 1, {}});
            open = &out.blocks.back();
        } else if (text.starts_with('#')) {
            heading = trimmed(text, "# ");
        } else if (row && !in_table) {
            out.tables.push_back({heading, read_row(text, line), {}});
        } else if (row && !is_rule(text)) {
            out.tables.back().rows.push_back(read_row(text, line));
        }
        in_table = row;
    }
    if (open != nullptr) throw std::runtime_error(file.string() + ": the last code block has no end");
    return out;
}

} // namespace ricci::tests
