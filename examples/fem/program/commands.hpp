// commands: the subcommands of the program, one file each.
#pragma once

#include <CLI/CLI.hpp>

namespace fem {

/// Each adds its subcommand to `app`; running it leaves its exit code in `exit_code`.
void add_info_command(CLI::App& app, int& exit_code);
void add_mass_command(CLI::App& app, int& exit_code);
void add_assemble_command(CLI::App& app, int& exit_code);
void add_apply_command(CLI::App& app, int& exit_code);
void add_poisson_command(CLI::App& app, int& exit_code);

} // namespace fem
