// fem: reads or generates a mesh, assembles the mass matrices of its elements, and says how large and how fast.
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/operators/mass_matrices.hpp"

#include <ricci/ricci.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

namespace {

constexpr int largest_order = 16; ///< of the basis: dense tables beyond it are of no use

struct options {
    std::string mesh; ///< empty: generate one
    int order = 2;
    int quadrature = 0; ///< 0: order + 2
    std::string device;
    std::optional<double> exact; ///< volume, or area in 2-D
    int repetitions = 10;
    int dimension = 3;
    int geometry_order = 3;
    std::int64_t elements = 4096;
    bool explain = false;
};

/// Runs `work` and waits for the device; seconds by the wall clock.
template <class Work>
double seconds(const ricci::device& device, Work work) {
    ricci::synchronize(device);
    const auto start = std::chrono::steady_clock::now();
    work();
    ricci::synchronize(device);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

/// "1 node", "2 nodes".
std::string counted(std::int64_t count, const char* thing) {
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

/// With a width of 11.
std::string time_text(double seconds) {
    return seconds < 1 ? fmt::format("{:8.3f} ms", 1e3 * seconds) : fmt::format("{:8.3f} s ", seconds);
}

void print_mesh(const fem::mesh& m) {
    fmt::print("Mesh             {}\n", m.name);
    const bool one = m.elements == 1;
    fmt::print("  elements       {} {}\n", m.elements,
               m.dimension == 2 ? (one ? "quadrilateral" : "quadrilaterals") : (one ? "hexahedron" : "hexahedra"));
    fmt::print("  dimension      {}\n", m.dimension);
    fmt::print("  geometry order {:<14} polynomials of this order map the unit {} to each element\n", m.order,
               m.dimension == 2 ? "square" : "cube");
}

/// Points in each direction that integrate the Jacobian determinant, of degree dimension*order - 1, exactly.
int exact_points(const fem::mesh& m) { return (m.dimension * m.order + 1) / 2; }

/// The relative error of a generated ring's volume by enough points is less: pieces of angle h and order k follow a
/// circle to h^(k+1) or better.
double ring_error(const fem::mesh& m) {
    const double h = std::numbers::pi / 2 / std::round(std::pow(m.elements, 1.0 / m.dimension));
    return 0.2 * std::pow(h, m.order + 1);
}

/// Compares with the volume of the domain that the mesh stands for. False if they differ too much.
bool print_exact(const fem::mesh& m, const fem::mass_matrices& mass, int quadrature, const options& o) {
    const bool ring = o.mesh.empty();
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
bool print_volumes(const fem::mesh& m, const fem::mass_matrices& mass, int quadrature, const options& o) {
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

void print_times(const fem::mass_matrices& mass, double first, const std::vector<double>& warm) {
    const double time = median(warm);
    fmt::print(
        "\nFirst run        {}  with the compilation of the kernel, or its loading from the cache on disk, and\n"
        "                              the first use of the memory of M\n",
        time_text(first));
    fmt::print("Warm run         {}  median of {}\n", time_text(time), warm.size());
    fmt::print("  memory         {:8.2f} GB/s B and W read once, M written once: {}\n", 1e-9 * mass.bytes() / time,
               fem::size_text(mass.bytes()));
    fmt::print("  arithmetic     {:8.2f} GF/s a multiplication and an addition for every point of every entry of M\n",
               1e-9 * mass.flops() / time);
}

/// The exit code.
int run(const options& o) {
    const auto m =
        o.mesh.empty() ? fem::generate_ring(o.dimension, o.geometry_order, o.elements) : fem::read_mesh(o.mesh);
    const int quadrature = o.quadrature > 0 ? o.quadrature : o.order + 2;
    const ricci::device device = o.device.empty() ? ricci::default_device() : ricci::parse_device(o.device);

    fem::mass_matrices mass(m, o.order, quadrature, device);
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

int main(int argc, char** argv) {
    options o;
    CLI::App app(
        "Assembles the mass matrices of all elements of a mesh of quadrilaterals or hexahedra in one statement.");
    app.footer(
        "Exit codes: 0 done, 1 the mesh or an argument is wrong, or the volumes do not agree, 2 the environment "
        "is wrong, or memory\ndoes not suffice.\nExamples:\n  fem\n  fem --dimension 2 --order 6 --elements 100000\n "
        " fem part.mesh --order 3 "
        "--device cpu --explain");
    app.add_option("MESH", o.mesh, "MFEM mesh v1.0 or Gmsh 4.1; without one a bent quarter of a ring is generated");
    app.add_option("--order", o.order, "order p of the basis")
        ->check(CLI::Range(1, largest_order))
        ->capture_default_str();
    app.add_option("--quadrature", o.quadrature, "Gauss points in each direction (default: order + 2)")
        ->check(CLI::Range(1, 2 * largest_order));
    app.add_option("--device", o.device, "cpu, cuda or cuda:N (default: a GPU where there is one)");
    app.add_option("--exact", o.exact,
                   "the domain's volume (area in 2-D), to compare with; a generated ring's is known");
    app.add_option("--time", o.repetitions, "warm runs of which the median is taken")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_flag("--explain", o.explain, "say how the statement is lowered");
    auto* generated = app.add_option_group("generated", "The mesh that is generated where none is given");
    generated->add_option("--dimension", o.dimension, "2 or 3")->check(CLI::Range(2, 3))->capture_default_str();
    generated->add_option("--elements", o.elements, "about how many")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
        ->capture_default_str();
    generated->add_option("--geometry-order", o.geometry_order, "order of the curved elements")
        ->check(CLI::Range(1, largest_order))
        ->capture_default_str();
    try {
        app.parse(argc, argv);
        for (const CLI::Option* option : generated->get_options())
            if (!o.mesh.empty() && option->count() > 0)
                throw fem::mesh_error(
                    fmt::format("{} is for a mesh that is generated, but {} is given", option->get_name(), o.mesh));
        return run(o);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        fmt::print(stderr, "fem: {}\nRun with --help for more information.\n", error.what());
        return 1;
    } catch (const fem::not_enough_memory& error) {
        fmt::print(stderr, "fem: {}\n", error.what());
        return 2;
    } catch (const fem::mesh_error& error) {
        fmt::print(stderr, "fem: {}\n", error.what());
        return 1;
    } catch (const ricci::error& error) {
        fmt::print(stderr, "fem: {}\n", error.what());
        return error.blame() == ricci::blame::environment ? 2 : 1;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "fem: there is not enough memory\n");
        return 2;
    }
}
