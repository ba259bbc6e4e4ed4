// poisson_command: solves a problem whose solution is known, refinement by refinement, and writes what it found.
#include "examples/fem/mesh/refine.hpp"
#include "examples/fem/output/plot.hpp"
#include "examples/fem/output/vtu.hpp"
#include "examples/fem/program/commands.hpp"
#include "examples/fem/program/common.hpp"
#include "examples/fem/solve/poisson.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <unistd.h>

namespace fem {
namespace {

const std::map<std::string, preconditioning> preconditioners{
    {"none", preconditioning::none}, {"jacobi", preconditioning::jacobi}, {"schwarz", preconditioning::schwarz}};

struct poisson_options {
    mesh_options mesh;
    int refinements = 0, order = 2, progress = 0;
    solver_options solver;
    preconditioning which = preconditioning::jacobi;
    bool sine = false;
    std::vector<std::string> coefficient;
    std::string neumann, device, vtu, png;
    int width = 1200;
};

/// A line about the solver every so many iterations, or, where a person looks on, twice a second in one place.
class progress_line {
  public:
    explicit progress_line(int every) : every_(every), terminal_(every == 0 && isatty(STDERR_FILENO)) {}
    void operator()(int iteration, double residual) {
        const auto now = std::chrono::steady_clock::now();
        if (every_ > 0 && iteration % every_ == 0)
            fmt::print(stderr, "  iteration {:6}  residual {:.2e}\n", iteration, residual);
        if (terminal_ && now - last_ > std::chrono::milliseconds(500)) {
            fmt::print(stderr, "\r  iteration {:6}  residual {:.2e} ", iteration, residual);
            last_ = now, shown_ = true;
        }
    }
    void clear() {
        if (shown_) fmt::print(stderr, "\r{:50}\r", "");
        shown_ = false;
    }

  private:
    int every_;
    bool terminal_, shown_ = false;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// "2,3"
std::vector<int> parsed_attributes(const std::string& text) {
    std::vector<int> attributes;
    const char *at = text.data(), *const end = at + text.size();
    while (!text.empty()) {
        int attribute = 0;
        const auto [stop, code] = std::from_chars(at, end, attribute);
        if (code != std::errc() || attribute < 1 || (stop != end && *stop != ','))
            throw usage_error(
                fmt::format("--neumann {}: attributes, 1 and up, with commas between are wanted", text));
        attributes.push_back(attribute);
        if (stop == end) break;
        at = stop + 1;
    }
    return attributes;
}

const char* described(preconditioning which) {
    switch (which) {
    case preconditioning::none:
        return "none";
    case preconditioning::jacobi:
        return "Jacobi, the diagonal";
    case preconditioning::schwarz:
        return "additive Schwarz, a block for each element";
    }
    return "";
}

/// Why the solver stopped before the residual was small enough.
std::string stopped(const solver_result& solved, const solver_options& options) {
    if (!std::isfinite(solved.relative_residual))
        return fmt::format(
            "the solver broke down after {}: the residual is no finite number; the mesh, the coefficient or the "
            "known solution is beyond the range of double precision",
            counted(solved.iterations, "iteration"));
    return fmt::format("the residual is not below {:.1e} after {}", options.tolerance,
                       counted(solved.iterations, "iteration"));
}

int run(const poisson_options& o) {
    const ricci::device device = device_named(o.device);
    const std::vector<int> neumann = parsed_attributes(o.neumann);
    mesh m = load(o.mesh);
    std::optional<symmetric_matrix> K;
    if (!o.coefficient.empty()) K = coefficient_from(o.coefficient, m.dimension);
    std::optional<common::output_file> vtu, png; // now, so that nothing is solved in vain
    if (!o.vtu.empty()) vtu.emplace(o.vtu);
    if (!o.png.empty()) png.emplace(o.png);
    if (vtu && png && vtu->same_file(*png))
        throw usage_error(fmt::format("--vtu {} and --png {} are the same file", o.vtu, o.png));
    const manufactured known = o.sine ? sine_solution(m) : smooth_solution(m.dimension);
    std::unique_ptr<poisson> problem;
    linear_map F;
    double preparation = 0;
    const auto prepare = [&] {
        problem = std::make_unique<poisson>(m, o.order, known, device, K, 0, 0, neumann);
        preparation = seconds(device, [&] { F = problem->preconditioner(o.which); });
    };
    prepare(); // the first problem before the first word, so that what is refused is refused instead of it

    print_mesh(m);
    fmt::print("\nProblem          -div({}grad u) = f, u given on the {}boundary\n", K ? "K " : "",
               neumann.empty() ? "" : "rest of the ");
    if (!neumann.empty())
        fmt::print("  Neumann        {} given on the boundary with attribute {}\n", K ? "K grad u . n" : "du/dn",
                   fmt::join(neumann, ", "));
    fmt::print("  solution       {}\nBasis            order {}\nPreconditioner   {}\nDevice           {}\n\n",
               known.formula, o.order, described(o.which), device.name());
    fmt::print("{:>10} {:>12} {:>11} {:>11} {:>12} {:>7} {:>11}\n", "elements", "unknowns", "iterations", "residual",
               "L2 error", "rate", "time");
    double before = 0;
    std::string complaint;
    for (int level = 0; level <= o.refinements; ++level) {
        if (level > 0) {
            F = {}, problem.reset(); // the memory of a level is needed for the next
            m = refine(m);
            prepare();
        }
        progress_line progress(o.progress);
        solver_options solver = o.solver;
        solver.progress = [&](int iteration, double residual) { progress(iteration, residual); };
        solver_result solved;
        const double time = preparation + seconds(device, [&] { solved = problem->solve(solver, F); });
        progress.clear();
        const double error = problem->error();
        fmt::print("{:>10} {:>12} {:>11} {:>11.2e} {:>12.4e} {:>7} {}{}\n", m.elements, problem->space().dofs(),
                   solved.iterations, solved.relative_residual, error,
                   level > 0 ? fmt::format("{:.2f}", std::log2(before / error)) : "", time_text(time),
                   solved.converged ? "" : "  NOT CONVERGED");
        std::fflush(stdout);
        before = error;
        if (!solved.converged && complaint.empty()) complaint = stopped(solved, solver);
        if (level < o.refinements || !complaint.empty()) continue;
        if (vtu) write_vtu(m, problem->space(), {{"u", &problem->solution()}}, *vtu);
        if (png) plot(m, problem->space(), problem->solution().download(), o.width, o.width * 3 / 4).write(*png);
    }
    if (o.refinements > 0)
        fmt::print("The error goes with h^{} for smooth solutions: a rate of order + 1.\n", o.order + 1);
    if (!complaint.empty()) {
        std::fflush(stdout);
        fmt::print(stderr, "fem: {}\n", complaint);
        return 1;
    }
    for (auto* file : {&vtu, &png})
        if (*file) {
            (*file)->finish();
            fmt::print("written          {}\n", (*file)->path());
        }
    return 0;
}

} // namespace

void add_poisson_command(CLI::App& app, int& exit_code) {
    auto* command = app.add_subcommand("poisson", "Solves Poisson's equation with a known solution.");
    auto o = std::make_shared<poisson_options>();
    add_mesh_options(*command, o->mesh, 64);
    command->add_option("--refine", o->refinements, "solve again this many times, elements cut in halves each time")
        ->check(CLI::Range(0, 10));
    add_order_option(*command, o->order);
    command
        ->add_option_function<std::string>(
            "--solution", [o](const std::string& name) { o->sine = name == "sine"; },
            "smooth (default): sin(1.1x+.3) cos(.9y-.2) exp(.5z); sine: a product of sines over the mesh's box")
        ->check(CLI::IsMember({"smooth", "sine"}));
    add_coefficient_option(*command, o->coefficient, false);
    command
        ->add_option("--neumann", o->neumann,
                     "the boundary's attributes, as 2,3, on which du/dn (with a coefficient K grad u . n) is given "
                     "instead of u; fem info lists them")
        ->check(not_empty());
    command
        ->add_option_function<std::string>(
            "--preconditioner", [o](const std::string& name) { o->which = preconditioners.at(name); },
            "none; jacobi (default): the diagonal; schwarz: additive Schwarz, a block of the matrix for each "
            "element: fewer iterations, and more memory, (order + 1)^(2 dimension) numbers an element")
        ->check(CLI::IsMember(preconditioners));
    command->add_option("--tolerance", o->solver.tolerance, "the residual to reach, relative to that at the start")
        ->check(CLI::Range(1e-15, 1.0))
        ->capture_default_str();
    command->add_option("--iterations", o->solver.most_iterations, "at most")
        ->check(CLI::Range(1, 100000000))
        ->capture_default_str();
    command
        ->add_option("--progress", o->progress,
                     "a line every so many iterations (on a terminal there is one by itself)")
        ->check(CLI::Range(1, 100000000));
    command->add_option("--vtu", o->vtu, "write mesh and solution as high-order cells for ParaView")
        ->check(not_empty());
    command->add_option("--png", o->png, "write a picture of the solution")->check(not_empty());
    command->add_option("--width", o->width, "of the picture, in pixels")
        ->check(CLI::Range(100, 10000))
        ->capture_default_str();
    add_device_option(*command, o->device);
    command->callback([o, &exit_code] { exit_code = run(*o); });
}

} // namespace fem
