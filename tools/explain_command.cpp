// explain_command: every stage of a program's statements, for operands that need not exist.
#include "tools/commands.hpp"
#include "tools/program.hpp"
#include "tools/shapes.hpp"

#include <ricci/lowering/lower.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/run.hpp>

#include <fmt/format.h>

namespace ricci::tools {

int explain_command(const explain_options& options) {
    const device where = options.device.empty() ? default_device() : parse_device(options.device);
    const auto program = place_shapes(options.statements, options.operands, where);
    std::vector<lowering::statement> statements;
    for (const auto& s : program.statements) try {
            statements.push_back(bind(s, program));
            lowering::lower(statements.back(), runtime::backend_of(where).machine()); // mistakes have its number
        } catch (const error& e) {
            throw numbered(e, s, program);
        }
    if (!program.locals.empty() || runtime::fuses_something(statements))
        fmt::print("{}\n", runtime::explain(statements));
    else
        for (const auto& s : statements) fmt::print("{}\n", runtime::explain(s));
    return 0;
}

} // namespace ricci::tools
