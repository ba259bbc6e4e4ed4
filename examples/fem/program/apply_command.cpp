// apply_command: CEED's bake-off problems BP1 to BP6: applies an operator without a matrix, checks it and times it.
#include "examples/fem/mesh/refine.hpp"
#include "examples/fem/operators/diffusion_operator.hpp"
#include "examples/fem/operators/mass_operator.hpp"
#include "examples/fem/program/commands.hpp"
#include "examples/fem/program/common.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace fem {
namespace {

struct apply_options {
    mesh_options mesh;
    int refinements = 0, order = 4, problem = 1, repetitions = 10;
    std::string device;
    std::vector<std::string> coefficient;
    bool explain = false;
};

bool is_mass(int problem) { return problem <= 2; }

/// 1 for BP1, BP3, BP5, as many as dimensions for the others.
int components_of(int problem, int dimension) { return problem % 2 == 1 ? 1 : dimension; }

/// True if the operator does what it must to a constant, in both forms that are timed: the mass operator gives each
/// component's volume, diffusion 0.
bool check(element_operator& A, bool mass, double volume) {
    using namespace ricci::indices;
    vector u(A.element_size(), A.device()), v(A.element_size(), A.device());
    vector x(A.global_size(), A.device()), y(A.global_size(), A.device());
    u.fill(1.0), x.fill(1.0);
    A.apply_to_elements(u, v);
    A.apply(x, y);
    bool all = true;
    const auto say = [&](const std::string& what, double wrong) {
        const bool right = wrong < 1e-12;
        fmt::print("{}: {}\n", what, right ? "right" : "WRONG");
        all = all && right;
    };
    if (mass) {
        const double expected = volume * A.components();
        const auto say_sum = [&](double sum, const char* vectors) {
            const double difference = std::abs(sum / expected - 1);
            say(fmt::format("1'A1             {:.15g} on {} vectors: {} times the volume, relative difference {:.1e}",
                            sum, vectors, A.components(), difference),
                difference);
        };
        say_sum(u(i) * v(i), "element");
        say_sum(x(i) * y(i), "global");
        return all;
    }
    const vector diagonal = A.diagonal();
    const double squares = diagonal(i) * diagonal(i);
    const auto say_size = [&](double of_result, const char* vectors) {
        const double size = std::sqrt(of_result / squares);
        say(fmt::format("|A1|/|diag A|    {:.1e} on {} vectors: constants have no gradient", size, vectors), size);
    };
    say_size(v(i) * v(i), "element");
    say_size(y(i) * y(i), "global");
    return all;
}

void print_time(const char* what, double first, const std::vector<double>& warm, double dofs, double bytes,
                double flops) {
    const double time = median(warm);
    fmt::print("{:<16} {}  median of {}; the first run {}\n", what, time_text(time), warm.size(), time_text(first));
    fmt::print("  unknowns       {:8.2f} M/s\n  memory         {:8.2f} GB/s each number once: {}\n"
               "  arithmetic     {:8.2f} GF/s\n",
               1e-6 * dofs / time, 1e-9 * bytes / time, size_text(bytes), 1e-9 * flops / time);
}

int run(const apply_options& o) {
    using namespace ricci::indices;
    if (is_mass(o.problem) && !o.coefficient.empty())
        throw usage_error("--coefficient is for diffusion, problems 3 to 6");
    const ricci::device device = device_named(o.device);
    const mesh m = refined(load(o.mesh), o.refinements);
    const auto K = coefficient_on(m, o.coefficient, device);
    const h1_space space(m, o.order);
    const tables basis(o.problem >= 5 ? quadrature::collocated : quadrature::gauss, o.order, device);
    const element_map map(m, basis.along, device);
    const int components = components_of(o.problem, m.dimension);
    std::unique_ptr<element_operator> A;
    if (is_mass(o.problem))
        A = std::make_unique<mass_operator>(space, basis, map, components);
    else if (K)
        A = std::make_unique<diffusion_operator>(space, basis, map, K->at_points(map.points_per_element()),
                                                 components);
    else
        A = std::make_unique<diffusion_operator>(space, basis, map, components);

    print_mesh(m);
    fmt::print("\nBP{}              {}, {}; order {}, {} in each direction\n", o.problem,
               is_mass(o.problem) ? "mass" : "diffusion", counted(components, "component"), o.order,
               counted(basis.points(), basis.collocated ? "Lobatto point" : "Gauss point"));
    fmt::print("  unknowns       {}\nDevice           {}\n", A->global_size(), device.name());
    vector u(A->element_size(), device), v(A->element_size(), device);
    vector x(A->global_size(), device), y(A->global_size(), device);
    u.fill(1.0), x.fill(1.0);
    if (o.explain) ricci::explain([&] { A->apply(x, y); });
    const bool right = check(*A, is_mass(o.problem), careful_sum(map.weights().download()));

    const auto time = [&](const char* what, double bytes, auto work) {
        const double first = seconds(device, work);
        std::vector<double> warm;
        for (int n = 0; n < o.repetitions; ++n) warm.push_back(seconds(device, work));
        print_time(what, first, warm, static_cast<double>(A->global_size()), bytes, A->flops());
    };
    time("Element vectors", A->bytes_of_elements(), [&] { A->apply_to_elements(u, v); });
    time("Global vectors", A->bytes(), [&] { A->apply(x, y); });
    return right ? 0 : 1;
}

} // namespace

void add_apply_command(CLI::App& app, int& exit_code) {
    auto* command = app.add_subcommand("apply", "Applies a mass or diffusion operator without a matrix.");
    auto o = std::make_shared<apply_options>();
    add_mesh_options(*command, o->mesh, 512);
    command->add_option("--refine", o->refinements, "how often each element is cut in halves along each direction")
        ->check(CLI::Range(0, 10));
    command
        ->add_option("--problem", o->problem,
                     "1 to 6, of CEED's bake-off: BP1 mass, BP3 diffusion with order+2 Gauss points, BP5 diffusion "
                     "with the nodes as points; BP2, BP4, BP6 the same for vectors")
        ->check(CLI::Range(1, 6))
        ->capture_default_str();
    add_order_option(*command, o->order);
    add_coefficient_option(*command, o->coefficient, true);
    add_device_option(*command, o->device);
    command->add_option("--time", o->repetitions, "warm runs of which the median is taken")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    command->add_flag("--explain", o->explain, "say how the statements are lowered");
    command->callback([o, &exit_code] { exit_code = run(*o); });
}

} // namespace fem
