// shell_test: the ```sh blocks of docs/language.md, run line by line in one folder.
//
// A line "$ command" is given to sh; the lines behind it are what it prints, standard error included. A line "..."
// stands for any lines.
#include "tests/catch.hpp"
#include "tests/docs/page.hpp"
#include "tests/tools/folder.hpp"

#include <sstream>

namespace {

using namespace ricci::tests;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) out.push_back(line);
    return out;
}

/// Whether `found` is `expected`, from line `f` and line `e` on.
bool agree(const std::vector<std::string>& found, const std::vector<std::string>& expected, std::size_t f, std::size_t e) {
    if (e == expected.size()) return f == found.size();
    if (expected[e] == "...") return agree(found, expected, f, e + 1) || (f < found.size() && agree(found, expected, f + 1, e));
    return f < found.size() && found[f] == expected[e] && agree(found, expected, f + 1, e + 1);
}

class shell {
  public:
    /// What `command` prints.
    std::string run(const std::string& command) const {
        const std::string script = folder_ / "script", output = folder_ / "output";
        write_bytes(script, command + "\n");
        const std::string line = "cd '" + folder_.path().string() + "' && PATH='" RICCI_COMMAND_FOLDER
                                 ":'\"$PATH\" RICCI_DEVICE=cpu sh '" + script + "' >'" + output + "' 2>&1";
        (void)!std::system(line.c_str()); // what it prints is compared, its exit code too where `echo $?` asks for it
        return read_bytes(output);
    }

  private:
    folder folder_;
};

} // namespace

TEST_CASE("the shell's examples print what the page says") {
    const shell sh;
    int commands = 0;
    for (const auto& block : read_page(RICCI_LANGUAGE_PAGE).blocks) {
        if (block.language != "sh") continue;
        for (std::size_t n = 0; n < block.lines.size();) {
            REQUIRE(block.lines[n].starts_with("$ "));
            const std::string command = block.lines[n++].substr(2);
            std::vector<std::string> expected;
            while (n < block.lines.size() && !block.lines[n].starts_with("$ ")) expected.push_back(block.lines[n++]);
            const std::string printed = sh.run(command);
            INFO("docs/language.md, block at line " << block.line << ": " << command << "\n" << printed);
            CHECK(agree(lines_of(printed), expected, 0, 0));
            ++commands;
        }
    }
    CHECK(commands > 3);
}
