// bench_command: the command line of `ricci bench`.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace ricci::tools {

/// Adds `bench` and its subcommands to `app`; gives a function that runs the one that was chosen, to be called after
/// parsing only if there is one: it returns the exit code or throws ricci::error. `command` is the whole command
/// line.
std::function<int()> add_bench_command(CLI::App& app, const std::string& command);

} // namespace ricci::tools
