// explain_command: every stage of a program's statements, for operands that need not exist.
#include "tools/commands.hpp"
#include "tools/operand_shape.hpp"
#include "tools/program.hpp"

#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

namespace ricci::tools {

namespace {

/// Addresses that no program has, apart from each other and aligned like real ones; nothing is ever read there.
void place(std::vector<text_operand>& operands, device where) {
    constexpr std::int64_t alignment = 256;
    std::int64_t address = alignment;
    for (auto& operand : operands) {
        operand.device = where.code();
        operand.data = reinterpret_cast<void*>(address);
        if (__builtin_add_overflow(address, bytes_of(operand), &address) ||
            __builtin_add_overflow(address, 2 * alignment - address % alignment, &address))
            throw error("the tensors together do not fit in an address space of 64 bits");
    }
}

} // namespace

int explain_command(const explain_options& options) {
    std::vector<given> givens;
    for (const auto& a : parse_arguments(options.operands, operand_shape_example)) givens.push_back(parse_operand_shape(a));
    resolved_program program = resolve(options.statements, givens, shape_example);
    place(program.operands, options.device.empty() ? default_device() : parse_device(options.device));
    std::string text;
    for (const auto& s : program.statements) try {
            text += runtime::explain(bind_text(s, program.operands)) + "\n";
        } catch (const error& e) {
            throw numbered(e, s, program);
        }
    fmt::print("{}", text);
    return 0;
}

} // namespace ricci::tools
