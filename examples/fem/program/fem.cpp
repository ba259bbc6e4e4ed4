// fem: finite elements on meshes of quadrilaterals and hexahedra; the subcommands are in files of their own.
#include "examples/common/output_file.hpp"
#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/program/commands.hpp"
#include "examples/fem/program/common.hpp"

#include <ricci/ricci.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <exception>
#include <new>

namespace {

constexpr const char* commands = "info, mass, assemble, apply, poisson";

int refuse(const char* message, int exit_code) {
    std::fflush(stdout);
    fmt::print(stderr, "fem: {}\n", message);
    return exit_code;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Finite elements of any order on meshes of quadrilaterals or hexahedra, in ricci's notation.");
    app.footer(
        "Exit codes: 0 done, 1 the mesh or an argument is wrong, or a result is, 2 the environment is wrong, or "
        "memory does not suffice.\nfem COMMAND --help tells each command's options.\nExamples:\n"
        "  fem info part.mesh\n  fem mass part.mesh --order 3 --explain\n"
        "  fem poisson part.mesh --order 4 --refine 2 --vtu u.vtu --png u.png\n"
        "  fem assemble part.mesh --order 3 --matrix k.mtx\n  fem apply --problem 3 --order 6 --device cpu");
    app.require_subcommand(1);
    int exit_code = 0;
    fem::add_info_command(app, exit_code);
    fem::add_mass_command(app, exit_code);
    fem::add_assemble_command(app, exit_code);
    fem::add_apply_command(app, exit_code);
    fem::add_poisson_command(app, exit_code);
    try {
        app.parse(argc, argv);
        return exit_code;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        const auto unknown = app.remaining();
        if (app.get_subcommands().empty() && !unknown.empty() && !unknown.front().starts_with('-'))
            refuse(fmt::format("there is no command '{}'; there are {}", unknown.front(), commands).c_str(), 1);
        else
            refuse(error.what(), 1);
        fmt::print(stderr, "Run with --help for more information.\n");
        return 1;
    } catch (const fem::not_enough_memory& error) {
        return refuse(error.what(), 2);
    } catch (const fem::mesh_error& error) {
        return refuse(error.what(), 1);
    } catch (const fem::usage_error& error) {
        return refuse(error.what(), 1);
    } catch (const common::output_error& error) {
        return refuse(error.what(), 1);
    } catch (const ricci::error& error) {
        return refuse(error.what(), error.blame() == ricci::blame::environment ? 2 : 1);
    } catch (const std::bad_alloc&) {
        return refuse("there is not enough memory", 2);
    } catch (const std::exception& error) { // what no mistake of a user should lead to
        return refuse(error.what(), 2);
    }
}
