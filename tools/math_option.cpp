// math_option: the option --math of the subcommands that lower statements.
#include "tools/math_option.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/math_mode.hpp>

#include <CLI/CLI.hpp>

#include <string>

namespace ricci::tools {

void add_math_option(CLI::App& app) {
    const auto choose = [](const std::string& word) {
        try {
            runtime::choose_math(runtime::parse_math(word));
        } catch (const error& e) {
            throw CLI::ValidationError("--math", e.what());
        }
    };
    app.add_option_function<std::string>(
        "--math", choose,
        "full, or tf32: f32 and c64 are rounded to TF32 where a GPU's tensor cores multiply them; "
        "otherwise RICCI_MATH, else full");
}

} // namespace ricci::tools
