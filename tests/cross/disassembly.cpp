// disassembly: a shared object's instructions, as objdump writes them.
#include "tests/cross/disassembly.hpp"

#include "lowering/error.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sstream>

namespace ricci::tests {
namespace {

/// What the program prints. The path is one of our own making: nothing in it means anything to a shell.
std::string output_of(const std::string& command) {
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw error("cannot start " + command, blame::environment);
    std::string text;
    std::array<char, 4096> some{};
    for (std::size_t got = 0; (got = std::fread(some.data(), 1, some.size(), pipe)) > 0;)
        text.append(some.data(), got);
    if (pclose(pipe) != 0) throw error(command + " failed", blame::environment);
    return text;
}

/// The address of the label behind a jump's operands: "b.ne 31c <ricci_direct+0x9c>".
std::uint64_t target_of(const std::string& operands) {
    const auto label = operands.find(" <");
    if (label == std::string::npos || operands.find('#') < label) return 0; // behind '#': data
    const auto blank = operands.find_last_of(" ,", label - 1);
    const auto begin = blank == std::string::npos ? 0 : blank + 1;
    const auto number = operands.substr(begin, label - begin);
    char* end = nullptr;
    const auto address = std::strtoull(number.c_str(), &end, 16);
    return end != number.c_str() && *end == '\0' ? address : 0;
}

} // namespace

std::vector<instruction> parse_disassembly(const std::string& text) {
    std::vector<instruction> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto colon = line.find(":\t");
        if (colon == std::string::npos) continue;
        instruction one;
        char* end = nullptr;
        one.address = std::strtoull(line.c_str(), &end, 16);
        if (end != line.c_str() + colon) continue;
        std::istringstream rest(line.substr(colon + 2));
        rest >> one.name >> std::ws;
        std::getline(rest, one.operands);
        one.target = target_of(one.operands);
        out.push_back(std::move(one));
    }
    return out;
}

disassembly disassemble(const std::string& objdump, const std::filesystem::path& object) {
    disassembly out;
    out.code = parse_disassembly(output_of(fmt::format("{} -d --no-show-raw-insn {}", objdump, object.string())));
    if (out.code.empty()) throw error(object.string() + " has no instructions", blame::environment);
    std::istringstream symbols(output_of(fmt::format("{} -T {}", objdump, object.string())));
    for (std::string line; std::getline(symbols, line);)
        if (line.find("*UND*") != std::string::npos && line.find(" w ") == std::string::npos)
            out.undefined.push_back(line.substr(line.find_last_of(' ') + 1));
    return out;
}

} // namespace ricci::tests
