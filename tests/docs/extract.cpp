// extract: turns the ```cpp blocks of a Markdown page into test programs.
//
//     extract PAGE.md FOLDER NAME COUNT     writes FOLDER/NAME_1.cpp ... NAME_COUNT.cpp, FOLDER/NAME_refused_N.cpp,
//                                           and FOLDER/NAME_N.c and .f90 with what each prints in NAME_N.c.txt
//
// Each block is the body of a test case of its own, behind the block marked ```cpp preamble, if there is one.
// #include lines go to the file's head. What a line gives is checked:
//     C(i, j) = A(i, k) * B(k, j);  // -> {1, 2}        the elements of C afterwards
//     double t = A(i, i);           // -> 3             the variable
//     A.extent(1);                  // -> 4             the expression
//     A(i, j) = B(i);               // throws: words    the message holds these words
// A ```c or ```fortran block is a whole program, and the ```text block behind it what it prints.
// A block marked ```cpp refused must not compile; the ```text block behind it holds lines of g++'s message.
#include "tests/docs/page.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <regex>
#include <stdexcept>

namespace {

using namespace ricci::tests;

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool newline = text.compare(at, 2, "\\n") == 0; // a page writes it so
        if (text[at] == '"' || (text[at] == '\\' && !newline)) out += '\\';
        out += text[at];
    }
    return out + '"';
}

/// One line of a block, with its check.
std::string checked(const std::string& line) {
    static const std::regex marked(R"((.*\S);\s*// (->|throws:) (.*\S)\s*)");
    static const std::regex declaration(R"(\s*(?:const\s+)?[A-Za-z_][\w:]*(?:<.*>)?\s+(\w+)\s*=\s.*)");
    static const std::regex assignment(R"(\s*(?:padded\()?(\w+)\)?\(.*\)\s*[-+]?=\s.*)");
    std::smatch parts, name;
    if (!std::regex_match(line, parts, marked)) {
        if (line.find("// ->") != std::string::npos || line.find("// throws:") != std::string::npos)
            throw std::runtime_error("a check must stand behind a whole statement: " + line);
        return line;
    }
    const std::string statement = parts[1], expected = quoted(parts[3]);
    const bool declares = std::regex_match(statement, name, declaration);
    if (parts[2] == "throws:")
        return fmt::format("CHECK_THAT(ricci::tests::message_of([&] {{ {}{}; }}), Catch::Contains({}));",
                           declares ? "[[maybe_unused]] " : "", statement, expected);
    if (declares || std::regex_match(statement, name, assignment))
        return fmt::format("{}; CHECK(ricci::tests::shown({}) == ricci::tests::as_shown{{{}}});", statement,
                           name[1].str(), expected);
    return fmt::format("CHECK(ricci::tests::shown({}) == ricci::tests::as_shown{{{}}});", statement, expected);
}

bool is_include(const std::string& line) { return line.starts_with("#include"); }

/// The lines of `block`, includes left out, each checked.
std::string body(const code_block& block, const std::string& file) {
    std::string out = fmt::format("#line {} {}\n", block.line, quoted(file));
    for (const auto& line : block.lines) out += (is_include(line) ? "" : checked(line)) + "\n";
    return out;
}

std::string includes(const std::vector<const code_block*>& blocks) {
    std::string out;
    for (const auto* block : blocks)
        for (const auto& line : block->lines)
            if (is_include(line)) out += line + "\n";
    return out;
}

void write(const std::string& file, const std::string& text) {
    std::ofstream stream(file);
    stream << text;
    if (!stream.flush()) throw std::runtime_error("cannot write " + file);
}

std::string joined(const std::vector<std::string>& lines) {
    std::string out;
    for (const auto& line : lines) out += line + "\n";
    return out;
}

/// The page's programs in one language, each with what it prints.
void write_programs(const page& p, const std::string& language, const std::string& path, const std::string& ending) {
    for (std::size_t n = 0, count = 0; n < p.blocks.size(); ++n) {
        if (p.blocks[n].language != language) continue;
        if (n + 1 == p.blocks.size() || p.blocks[n + 1].language != "text")
            throw std::runtime_error(fmt::format("line {}: no ```text block behind it", p.blocks[n].line));
        const auto file = fmt::format("{}_{}.{}", path, ++count, ending);
        write(file, joined(p.blocks[n].lines));
        write(file + ".txt", joined(p.blocks[n + 1].lines));
    }
}

void extract(const std::string& source, const std::string& folder, const std::string& name, std::size_t count) {
    const page p = read_page(source);
    std::vector<const code_block*> examples;
    const code_block* preamble = nullptr;
    std::size_t refused = 0;
    for (std::size_t n = 0; n < p.blocks.size(); ++n) {
        const auto& block = p.blocks[n];
        if (block.language != "cpp") continue;
        if (block.note == "preamble") {
            preamble = &block;
        } else if (block.note.empty()) {
            examples.push_back(&block);
        } else if (block.note == "refused") {
            if (preamble == nullptr) throw std::runtime_error("a refused block needs a preamble before it");
            if (n + 1 == p.blocks.size() || p.blocks[n + 1].language != "text")
                throw std::runtime_error(fmt::format("line {}: no ```text block behind it", block.line));
            std::string text = includes({preamble, &block}) + body(*preamble, source);
            text += "void refused() {\n" + body(block, source) + "}\n";
            for (const auto& line : p.blocks[n + 1].lines) text += "// expect: " + line + "\n";
            write(fmt::format("{}/{}_refused_{}.cpp", folder, name, ++refused), text);
        } else {
            throw std::runtime_error(fmt::format("line {}: unknown mark '{}'", block.line, block.note));
        }
    }
    write_programs(p, "c", folder + "/" + name, "c");
    write_programs(p, "fortran", folder + "/" + name, "f90");
    for (std::size_t part = 0; part < count; ++part) {
        std::vector<const code_block*> mine;
        for (std::size_t n = part; n < examples.size(); n += count) mine.push_back(examples[n]);
        std::string text = "// Made from " + source + ".\n#include \"tests/docs/example.hpp\"\n";
        if (preamble != nullptr) text += includes({preamble}) + body(*preamble, source);
        text += includes(mine);
        for (const auto* block : mine) {
            const auto title = fmt::format("{}, line {}", block->heading, block->line);
            text += fmt::format("TEST_CASE({}) {{\n{}}}\n", quoted(title), body(*block, source));
        }
        write(fmt::format("{}/{}_{}.cpp", folder, name, part + 1), text);
    }
}

} // namespace

int main(int argc, char** argv) try {
    if (argc != 5) throw std::runtime_error("extract PAGE.md FOLDER NAME COUNT");
    extract(argv[1], argv[2], argv[3], std::stoul(argv[4]));
} catch (const std::exception& e) {
    std::cerr << "extract: " << e.what() << '\n';
    return 1;
}
