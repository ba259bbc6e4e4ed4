// explain_command: every stage of a program's statements, for operands that need not exist.
#include "tools/commands.hpp"
#include "tools/program.hpp"
#include "tools/shapes.hpp"

#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

namespace ricci::tools {

int explain_command(const explain_options& options) {
    resolved_program program = resolve_shapes(options.statements, options.operands);
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
