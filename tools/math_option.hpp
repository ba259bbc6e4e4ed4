// math_option: the option --math of the subcommands that lower statements.
#pragma once

namespace CLI {
class App;
}

namespace ricci::tools {

/// Adds it to `app`. It takes effect, for all statements, when the command line is parsed.
void add_math_option(CLI::App& app);

} // namespace ricci::tools
