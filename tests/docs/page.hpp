// page: the code blocks and tables of a Markdown page.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ricci::tests {

/// A fenced block: ```language note
struct code_block {
    std::string language, note, heading;
    int line = 0; ///< of the page, where the block's first line stands, from 1
    std::vector<std::string> lines;
};

struct table_row {
    int line = 0;
    std::vector<std::string> cells; ///< without blanks and backticks around them; \| is |
};

struct table {
    std::string heading;
    table_row head;
    std::vector<table_row> rows;
};

struct page {
    std::vector<code_block> blocks;
    std::vector<table> tables;
};

/// Throws std::runtime_error where the file cannot be read or a block has no end.
page read_page(const std::filesystem::path& file);

} // namespace ricci::tests
