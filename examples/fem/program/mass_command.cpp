// mass_command: assembles the mass matrices of all elements in one statement, and says how large and how fast.
#include "examples/fem/operators/mass_matrices.hpp"
#include "examples/fem/program/commands.hpp"
#include "examples/fem/program/common.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <optional>

namespace fem {
namespace {

struct mass_options {
    mesh_options mesh;
    int order = 2;
    int quadrature = 0; ///< 0: order + 2
    std::string device;
    std::optional<double> exact; ///< volume, or area in 2-D
    int repetitions = 10;
    bool explain = false;
};

/// Points in each direction that integrate the Jacobian determinant, of degree dimension*order - 1, exactly.
int exact_points(const mesh& m) { return (m.dimension * m.order + 1) / 2; }

/// The relative error of a generated ring's volume by enough points is less: pieces of angle h and order k follow a
/// circle to h^(k+1) or better.
double ring_error(const mesh& m) {
    const double h = std::numbers::pi / 2 / std::round(std::pow(m.elements, 1.0 / m.dimension));
    return 0.2 * std::pow(h, m.order + 1);
}

/// Compares with the volume of the domain that the mesh stands for. False if they differ too much.
bool print_exact(const mesh& m, const mass_matrices& mass, int quadrature, const mass_options& o) {
    const bool ring = o.mesh.path.empty();
    if (!ring && !o.exact) return true;
    const double exact = o.exact.value_or(3 * std::numbers::pi / 4);
    const double difference = std::abs(mass.volume() / exact - 1);
    fmt::print("  exact          {:<18.15g}{}\n", exact, o.exact ? "as given" : "3 pi/4, of the ring itself");
    fmt::print("  relative difference {:.1e}", difference);
    if (o.exact || quadrature < exact_points(m)) {
        fmt::print(": how nearly the elements follow the domain\n");
        return true;
    }
    const double allowed = ring_error(m) + mass.rounding();
    const bool right = difference <= allowed;
    fmt::print(", elements of order {} that follow its circles nearly allow {:.1e}: {}\n", m.order, allowed,
               right ? "right" : "WRONG");
    return right;
}

/// False if the matrices do not give the volume that the weights give, or that is not the ring's.
bool print_volumes(const mesh& m, const mass_matrices& mass, int quadrature, const mass_options& o) {
    const char* volume = m.dimension == 2 ? "area" : "volume";
    const double from_weights = mass.volume(), from_matrices = mass.volume_by_matrices();
    fmt::print("\n{:<16} {:.15g}\n", m.dimension == 2 ? "Area" : "Volume", from_weights);
    fmt::print("  sum of W, the quadrature weights times the Jacobian determinants\n");
    const bool right = print_exact(m, mass, quadrature, o);
    if (quadrature < exact_points(m))
        fmt::print("  note: --quadrature {} would integrate these determinants without an error of its own\n",
                   exact_points(m));
    fmt::print("1'M1             {:.15g}\n", from_matrices);
    fmt::print("  sum of all entries of M: basis functions sum to 1, so this is the {} again\n", volume);
    const double difference = std::abs(from_matrices / from_weights - 1);
    const bool agree = difference <= mass.rounding();
    fmt::print("  relative difference {:.1e}, rounding allows {:.1e}: {}\n", difference, mass.rounding(),
               agree ? "they agree" : "THEY DISAGREE");
    return agree && right;
}

void print_times(const mass_matrices& mass, double first, const std::vector<double>& warm) {
    const double time = median(warm);
    fmt::print(
        "\nFirst run        {}  with the compilation of the kernel, or its loading from the cache on disk, and\n"
        "                              the first use of the memory of M\n",
        time_text(first));
    fmt::print("Warm run         {}  median of {}\n", time_text(time), warm.size());
    fmt::print("  memory         {:8.2f} GB/s B and W read once, M written once: {}\n", 1e-9 * mass.bytes() / time,
               size_text(mass.bytes()));
    fmt::print("  arithmetic     {:8.2f} GF/s a multiplication and an addition for every point of every entry of M\n",
               1e-9 * mass.flops() / time);
}

/// The exit code.
int run(const mass_options& o) {
    const ricci::device device = device_named(o.device);
    const mesh m = load(o.mesh);
    const int quadrature = o.quadrature > 0 ? o.quadrature : o.order + 2;

    mass_matrices mass(m, o.order, quadrature, device);
    print_mesh(m);
    fmt::print("\nBasis            order {}: {} an element; {}, {} in each direction\n", o.order,
               counted(mass.nodes(), "node"), counted(mass.points(), "quadrature point"), quadrature);
    fmt::print("Device           {}\n", device.name());
    fmt::print(
        "Statement        M(i,j,e) = B(q,i)*W(q,e)*B(q,j)\n"
        "  all element mass matrices at once: B holds basis function i at point q, W weight and determinant\n");
    if (o.explain) ricci::explain([&] { mass.assemble(); });

    const double first = seconds(device, [&] { mass.assemble(); });
    std::vector<double> warm;
    for (int n = 0; n < o.repetitions; ++n) warm.push_back(seconds(device, [&] { mass.assemble(); }));
    const bool agree = print_volumes(m, mass, quadrature, o);
    print_times(mass, first, warm);
    return agree ? 0 : 1;
}

} // namespace

void add_mass_command(CLI::App& app, int& exit_code) {
    auto* command = app.add_subcommand("mass", "Assembles the mass matrices of all elements in one statement.");
    auto o = std::make_shared<mass_options>();
    add_mesh_options(*command, o->mesh, 4096);
    add_order_option(*command, o->order);
    command->add_option("--quadrature", o->quadrature, "Gauss points in each direction (default: order + 2)")
        ->check(CLI::Range(1, 2 * largest_order));
    add_device_option(*command, o->device);
    command
        ->add_option("--exact", o->exact,
                     "the domain's volume (area in 2-D), to compare with; a generated ring's is known")
        ->check(positive_number());
    command->add_option("--time", o->repetitions, "warm runs of which the median is taken")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    command->add_flag("--explain", o->explain, "say how the statement is lowered");
    command->callback([o, &exit_code] { exit_code = run(*o); });
}

} // namespace fem
