// disassembly: a shared object's instructions, as objdump writes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ricci::tests {

struct instruction {
    std::uint64_t address = 0;
    std::string name;
    std::string operands;
    std::uint64_t target = 0; ///< of a jump; 0: none that is known
};

struct disassembly {
    std::vector<instruction> code;
    std::vector<std::string> undefined; ///< functions of other libraries
};

/// Throws ricci::error where the program `objdump` cannot do it.
disassembly disassemble(const std::string& objdump, const std::filesystem::path& object);

/// The code in what `objdump -d --no-show-raw-insn` printed.
std::vector<instruction> parse_disassembly(const std::string& text);

} // namespace ricci::tests
