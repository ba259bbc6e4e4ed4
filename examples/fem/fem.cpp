// fem: reads or generates a mesh, assembles the mass matrices of its elements, and says how large and how fast.
#include "examples/fem/mass.hpp"
#include "examples/fem/read_mesh.hpp"

#include <ricci/ricci.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <numbers>
#include <string>
#include <vector>

namespace {

constexpr int largest_order = 16; ///< of the basis: dense tables beyond it are of no use

struct options {
    std::string mesh; ///< empty: generate one
    int order = 2;
    int quadrature = 0; ///< 0: order + 2
    std::string device;
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

void print_mesh(const fem::mesh& m, bool generated) {
    fmt::print("Mesh             {}\n", m.name);
    fmt::print("  elements       {} {}\n", m.elements, m.dimension == 2 ? "quadrilaterals" : "hexahedra");
    fmt::print("  dimension      {}\n", m.dimension);
    fmt::print("  geometry order {:<14} polynomials of this order map the unit {} to each element\n", m.order,
               m.dimension == 2 ? "square" : "cube");
    if (generated)
        fmt::print("  exact {:9}{:<14.10g} 3 pi/4, of the ring itself; the polynomials follow its circles nearly\n",
                   m.dimension == 2 ? "area" : "volume", 3 * std::numbers::pi / 4);
}

/// False if the matrices do not give the volume that the weights give.
bool print_volumes(const fem::mesh& m, const fem::mass_matrices& mass, int quadrature) {
    const char* volume = m.dimension == 2 ? "area" : "volume";
    const double from_weights = mass.volume(), from_matrices = mass.volume_by_matrices();
    fmt::print("\n{:<16} {:.15g}\n", m.dimension == 2 ? "Area" : "Volume", from_weights);
    fmt::print("  sum of W, the quadrature weights times the Jacobian determinants\n");
    fmt::print("1'M1             {:.15g}\n", from_matrices);
    fmt::print("  sum of all entries of M: basis functions sum to 1, so this is the {} again\n", volume);
    const double difference = std::abs(from_matrices / from_weights - 1);
    const bool agree = difference <= mass.rounding();
    fmt::print("  relative difference {:.1e}, rounding allows {:.1e}: {}\n", difference, mass.rounding(),
               agree ? "they agree" : "THEY DISAGREE");
    const int exact = (m.dimension * m.order + 1) / 2;
    if (quadrature < exact)
        fmt::print("  With {} points in each direction the {} of these elements is not exact; from {} on it is.\n",
                   quadrature, volume, exact);
    return agree;
}

void print_times(const fem::mass_matrices& mass, double first, const std::vector<double>& warm) {
    const double time = median(warm);
    fmt::print(
        "\nFirst run        {:8.3f} ms  with the compilation of the kernel, or its loading from the cache on disk\n",
        1e3 * first);
    fmt::print("Warm run         {:8.3f} ms  median of {}\n", 1e3 * time, warm.size());
    fmt::print("  memory         {:8.2f} GB/s B and W read once, M written once: {:.4g} MB\n",
               1e-9 * mass.bytes() / time, 1e-6 * mass.bytes());
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
    print_mesh(m, o.mesh.empty());
    fmt::print("\nBasis            order {}: {} nodes an element; {} quadrature points, {} in each direction\n",
               o.order, mass.nodes(), mass.points(), quadrature);
    fmt::print("Device           {}\n", device.name());
    fmt::print(
        "Statement        M(i,j,e) = B(q,i)*W(q,e)*B(q,j)\n"
        "  all element mass matrices at once: B holds basis function i at point q, W weight and determinant\n");
    if (o.explain) ricci::explain([&] { mass.assemble(); });

    const double first = seconds(device, [&] { mass.assemble(); });
    std::vector<double> warm;
    for (int n = 0; n < o.repetitions; ++n) warm.push_back(seconds(device, [&] { mass.assemble(); }));
    const bool agree = print_volumes(m, mass, quadrature);
    print_times(mass, first, warm);
    return agree ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    options o;
    CLI::App app(
        "Assembles the mass matrices of all elements of a mesh of quadrilaterals or hexahedra in one statement.");
    app.footer("Examples:\n  fem\n  fem --dimension 2 --order 6 --elements 100000\n  fem part.mesh --order 3 "
               "--device cpu --explain");
    app.add_option("MESH", o.mesh, "MFEM mesh v1.0 or Gmsh 4.1; without one a bent quarter of a ring is generated");
    app.add_option("--order", o.order, "order p of the basis")
        ->check(CLI::Range(1, largest_order))
        ->capture_default_str();
    app.add_option("--quadrature", o.quadrature, "Gauss points in each direction (default: order + 2)")
        ->check(CLI::Range(1, 2 * largest_order));
    app.add_option("--device", o.device, "cpu, cuda or cuda:N (default: a GPU where there is one)");
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
        return run(o);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
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
