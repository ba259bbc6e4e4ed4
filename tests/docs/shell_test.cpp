// shell_test: the ```sh blocks of docs/language.md, docs/tuning.md, docs/fem.md and docs/cnn.md, each page's run line
// by line in one folder.
//
// A line "$ command" is given to sh; the lines behind it are what it prints, standard error included, "..." being any
// text.
#include "tests/catch.hpp"
#include "tests/docs/page.hpp"
#include "tests/tools/folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#ifndef RICCI_FEM_PAGE // without the examples
#define RICCI_EXAMPLES_FOLDER "."
#endif

namespace {

using namespace ricci::tests;

const std::vector<std::string> pages{
    RICCI_LANGUAGE_PAGE,
    RICCI_TUNING_PAGE,
#ifdef RICCI_FEM_PAGE
    RICCI_FEM_PAGE,
    RICCI_CNN_PAGE,
#endif
};

/// Whether `text` is `page`, in which "..." stands for any text.
bool agree(const std::string& text, const std::string& page) {
    constexpr std::string_view any = "...";
    std::size_t from = 0, at = 0;
    for (;;) {
        const auto next = page.find(any, from);
        const auto piece = page.substr(from, next == std::string::npos ? next : next - from);
        const auto found = from == 0                   ? 0
                           : next == std::string::npos ? text.size() - std::min(piece.size(), text.size())
                                                       : text.find(piece, at);
        if (found == std::string::npos || found < at || text.compare(found, piece.size(), piece) != 0) return false;
        at = found + piece.size();
        if (next == std::string::npos) return at == text.size();
        from = next + any.size();
    }
}

class shell {
  public:
    /// What `command` prints.
    std::string run(const std::string& command) const {
        const std::string script = folder_ / "script", output = folder_ / "output";
        write_bytes(script, command + "\n");
        const std::string line = "cd '" + folder_.path().string() +
                                 "' && PATH='" RICCI_COMMAND_FOLDER ":" RICCI_EXAMPLES_FOLDER
                                 ":'\"$PATH\" RICCI_DEVICE=cpu sh '" +
                                 script + "' >'" + output + "' 2>&1";
        (void)!std::system(line.c_str()); // what it prints is compared, its exit code too where `echo $?` asks for it
        return read_bytes(output);
    }

  private:
    folder folder_;
};

} // namespace

TEST_CASE("the shell's examples print what the pages say") {
    for (const std::string& path : pages) {
        const shell sh;
        int commands = 0;
        for (const auto& block : read_page(path).blocks) {
            if (block.language != "sh") continue;
            for (std::size_t n = 0; n < block.lines.size();) {
                REQUIRE(block.lines[n].starts_with("$ "));
                const std::string command = block.lines[n++].substr(2);
                std::string expected;
                while (n < block.lines.size() && !block.lines[n].starts_with("$ "))
                    expected += block.lines[n++] + "\n";
                const std::string printed = sh.run(command);
                INFO(path << ", block at line " << block.line << ": " << command << "\n" << printed);
                CHECK(agree(printed, expected));
                ++commands;
            }
        }
        CHECK(commands > 2);
    }
}
