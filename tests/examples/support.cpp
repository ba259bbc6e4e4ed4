// support: see support.hpp.
#include "tests/examples/support.hpp"

#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/operators/geometry.hpp"
#include "tests/catch.hpp"
#include "tools/npy.hpp"

#include <cmath>
#include <fstream>
#include <numeric>
#include <stdexcept>

namespace fem_test {

std::string own_mesh(const std::string& name) { return RICCI_SOURCE_DIR "/examples/fem/meshes/" + name; }

std::string reference(const std::string& name) { return reference_file("fem", name); }

std::vector<double> read_npy(const std::string& path) {
    const auto header = ricci::tools::read_npy_header(path);
    if (header.type != ricci::lowering::scalar_type::f64 || header.fortran_order)
        throw std::runtime_error(path + ": doubles in C order were expected");
    std::vector<double> values(header.data_bytes / sizeof(double));
    ricci::tools::read_npy_data(path, header, values.data());
    return values;
}

std::string complaint(const std::string& path) {
    try {
        const auto m = fem::read_mesh(path);
        weighted_determinants(m, fem::gauss_legendre(m.order + 1));
    } catch (const fem::mesh_error& error) {
        return error.what();
    }
    return {};
}

std::vector<double> product(const fem::sparse_matrix& A, const std::vector<double>& x) {
    const std::vector<double> values = A.values().download();
    std::vector<double> y(A.rows());
    for (std::int64_t r = 0; r < A.rows(); ++r)
        for (std::int64_t n = A.row_starts()[r]; n < A.row_starts()[r + 1]; ++n)
            y[r] += values[n] * x[A.columns()[n]];
    return y;
}

std::vector<double> weighted_determinants(const fem::mesh& m, const fem::rule& along, ricci::device device) {
    return fem::element_map(m, along, device).weights().download();
}

double l2_norm(const fem::mesh& m, const fem::manufactured& known, int points) {
    const auto along = fem::gauss_legendre(points);
    const auto w = plain_weights(m, along);
    const auto u = fem::values_at(fem::mapped_points(m, along.points, ricci::cpu()), fem::power(points, m.dimension),
                                  m.dimension, known.value);
    std::vector<double> squares(w.size());
    for (std::size_t n = 0; n < w.size(); ++n) squares[n] = w[n] * u[n] * u[n];
    return std::sqrt(fem::careful_sum(squares));
}

std::vector<double> plain_weights(const fem::mesh& m, const fem::rule& along) {
    const fem::lagrange shape(fem::positions(m.points, m.order));
    const fem::table value = shape.values(along.points), derivative = shape.derivatives(along.points);
    const fem::table weights = fem::tensor_product({along.size(), 1, along.weights}, m.dimension);
    const std::int64_t n = fem::nodes_per_element(m), points = weights.rows;
    std::vector<double> w(points * m.elements);
    for (std::int64_t e = 0; e < m.elements; ++e) {
        std::vector<double> d[3][3];
        for (int x = 0; x < m.dimension; ++x)
            for (int r = 0; r < m.dimension; ++r) {
                std::vector<const fem::table*> tables(m.dimension, &value);
                tables[r] = &derivative;
                d[x][r] = fem::apply_along(tables, &m.nodes[(e * m.dimension + x) * n]);
            }
        for (std::int64_t q = 0; q < points; ++q) {
            const auto j = [&](int x, int r) { return d[x][r][q]; };
            const double det = m.dimension == 2 ? j(0, 0) * j(1, 1) - j(0, 1) * j(1, 0)
                                                : j(0, 0) * (j(1, 1) * j(2, 2) - j(1, 2) * j(2, 1)) -
                                                      j(0, 1) * (j(1, 0) * j(2, 2) - j(1, 2) * j(2, 0)) +
                                                      j(0, 2) * (j(1, 0) * j(2, 1) - j(1, 1) * j(2, 0));
            w[q + points * e] = weights.values[q] * det;
        }
    }
    return w;
}

std::vector<double> nodal(const fem::mesh& from, const fem::h1_space& space,
                          const std::function<double(const fem::point&)>& f) {
    const auto at = fem::mapped_points(from, fem::positions(fem::node_points::gauss_lobatto, space.order()),
                                       ricci::default_device());
    std::vector<double> values(space.dofs());
    for (std::int64_t element = 0; element < space.elements(); ++element)
        for (std::int64_t node = 0; node < space.nodes(); ++node) {
            fem::point here{};
            for (int d = 0; d < from.dimension; ++d)
                here[d] = at[node + space.nodes() * (d + from.dimension * element)];
            values[space.numbers()[node + space.nodes() * element]] = f(here);
        }
    return values;
}

double volume(const fem::mesh& m, int quadrature) {
    const auto w = weighted_determinants(m, fem::gauss_legendre(quadrature));
    return std::accumulate(w.begin(), w.end(), 0.0);
}

std::vector<double> element_masses(const fem::mesh& m, int p, int q) {
    const auto points = fem::gauss_legendre(q);
    const auto w = plain_weights(m, points);
    const auto b =
        fem::tensor_product(fem::lagrange(fem::gauss_lobatto(p + 1).points).values(points.points), m.dimension);
    const std::int64_t n = b.columns;
    std::vector<double> masses(n * n * m.elements);
    for (std::int64_t e = 0; e < m.elements; ++e)
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i)
                for (int k = 0; k < b.rows; ++k) masses[i + n * (j + n * e)] += b(k, i) * w[k + b.rows * e] * b(k, j);
    return masses;
}

double distance_from_straight(const fem::mesh& m) {
    const auto along = fem::positions(m.points, m.order);
    const std::int64_t n = fem::nodes_per_element(m), side = m.order + 1;
    double largest = 0;
    for (std::int64_t e = 0; e < m.elements; ++e)
        for (int d = 0; d < m.dimension; ++d) {
            const double* x = &m.nodes[(e * m.dimension + d) * n];
            for (std::int64_t i = 0; i < n; ++i) {
                const double at[3]{along[i % side], along[i / side % side],
                                   m.dimension == 3 ? along[i / side / side] : 0};
                double straight = 0;
                for (int c = 0; c < 1 << m.dimension; ++c) {
                    const auto& corner = fem::corner_positions[c];
                    double weight = 1;
                    for (int r = 0; r < 3; ++r) weight *= corner[r] ? at[r] : 1 - at[r];
                    straight +=
                        weight * x[fem::lexicographic({corner[0] * m.order, corner[1] * m.order, corner[2] * m.order},
                                                      m.order)];
                }
                largest = std::max(largest, std::abs(straight - x[i]));
            }
        }
    return largest;
}

std::vector<std::map<std::string, std::string>> read_csv(const std::string& path) {
    const auto fields = [](const std::string& line) {
        std::vector<std::string> found(1);
        bool quoted = false;
        for (const char c : line) {
            if (c == '"')
                quoted = !quoted;
            else if (c == ',' && !quoted)
                found.emplace_back();
            else if (c != '\r')
                found.back() += c;
        }
        return found;
    };
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    const auto names = fields(line);
    std::vector<std::map<std::string, std::string>> rows;
    while (std::getline(file, line)) {
        const auto values = fields(line);
        auto& row = rows.emplace_back();
        for (std::size_t n = 0; n < names.size() && n < values.size(); ++n) row[names[n]] = values[n];
    }
    return rows;
}

} // namespace fem_test
