// mesh: generated meshes, and whether memory suffices for them.
#include "examples/fem/mesh/mesh.hpp"

#include "examples/fem/mesh/topology.hpp"
#include "examples/fem/space/basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <unistd.h>
#include <utility>

namespace fem {

mesh generate_grid(std::string name, int dimension, int order, std::array<std::int64_t, 3> counts,
                   const std::function<point(const point&)>& map) {
    if (dimension == 2) counts[2] = 1;
    if (order < 1) throw mesh_error(fmt::format("{}: the order must be at least 1, not {}", name, order));
    double elements = 1;
    for (const std::int64_t count : counts) {
        if (count < 1) throw mesh_error(fmt::format("{}: needs at least one element in each direction", name));
        elements *= static_cast<double>(count);
    }
    check_memory(name, fmt::format("the nodes of {:.0f} element{}", elements, elements == 1 ? "" : "s"),
                 elements * (8.0 * dimension * std::pow(order + 1.0, dimension) + 8.0 * (1 << dimension) + 4));

    mesh m;
    m.name = std::move(name);
    m.dimension = dimension;
    m.order = order;
    m.elements = counts[0] * counts[1] * counts[2];
    m.attributes.assign(m.elements, 1);
    m.vertices = (counts[0] + 1) * (counts[1] + 1) * (dimension == 3 ? counts[2] + 1 : 1);
    m.corners.reserve(m.elements << dimension);
    const std::int64_t n = nodes_per_element(m);
    m.nodes.resize(m.elements * dimension * n);
    const std::vector<double> along = positions(m.points, order);

    const auto name_sides = [&](std::int64_t e, const std::array<std::int64_t, 3>& at) {
        for (int face = 0; face < faces_of_element(dimension); ++face) {
            const auto [axis, end] = side_of(dimension, face);
            if (at[axis] == (end == 0 ? 0 : counts[axis] - 1)) m.boundary.push_back({e, face, face + 1});
        }
    };
    double* nodes = m.nodes.data();
    std::int64_t e = 0;
    for (std::int64_t z = 0; z < counts[2]; ++z)
        for (std::int64_t y = 0; y < counts[1]; ++y)
            for (std::int64_t x = 0; x < counts[0]; ++x, nodes += dimension * n) {
                name_sides(e++, {x, y, z});
                for (int c = 0; c < 1 << dimension; ++c) {
                    const auto& [i, j, k] = corner_positions[c];
                    m.corners.push_back(x + i + (counts[0] + 1) * (y + j + (counts[1] + 1) * (z + k)));
                }
                for (std::int64_t node = 0; node < n; ++node) {
                    const std::int64_t i = node % (order + 1), j = node / (order + 1) % (order + 1);
                    const std::int64_t k = node / ((order + 1) * (order + 1));
                    const point at = map({(x + along[i]) / counts[0], (y + along[j]) / counts[1],
                                          dimension == 3 ? (z + along[k]) / counts[2] : 0.0});
                    for (int d = 0; d < dimension; ++d) nodes[d * n + node] = at[d];
                }
            }
    return m;
}

mesh generate_ring(int dimension, int order, std::int64_t elements) {
    const std::int64_t side =
        std::max<std::int64_t>(1, std::llround(std::pow(std::max<double>(1, elements), 1.0 / dimension)));
    const auto name =
        fmt::format("generated {} of order {}", dimension == 3 ? "bent quarter ring" : "quarter ring", order);
    return generate_grid(name, dimension, order, {side, side, side}, [](const point& u) -> point {
        using std::numbers::pi;
        const double radius = 1 + u[0], angle = pi / 2 * u[1];
        // The height moves with the other two coordinates only, which leaves the volume as it is.
        const double lift = 0.2 * std::sin(pi * u[0]) * std::cos(pi * u[1]);
        return {radius * std::cos(angle), radius * std::sin(angle), u[2] + lift};
    });
}

std::string element_text(const mesh& m, std::int64_t e) {
    if (m.refinements == 0) return fmt::format("element {} (counted from 0)", e);
    return fmt::format("element {} (counted from 0), refined {},", e >> (m.dimension * m.refinements),
                       m.refinements == 1 ? "once" : fmt::format("{} times", m.refinements));
}

double available_memory() {
    std::ifstream info("/proc/meminfo");
    for (std::string key; info >> key; info.ignore(1 << 10, '\n'))
        if (double kilobytes; key == "MemAvailable:" && info >> kilobytes) return kilobytes * 1024;
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

std::string size_text(double bytes) {
    const auto [scale, unit] = bytes < 1e6   ? std::pair(1e3, "kB")
                               : bytes < 1e9 ? std::pair(1e6, "MB")
                                             : std::pair(1e9, "GB");
    return fmt::format("{:.1f} {}", bytes / scale, unit);
}

void check_memory(const std::string& name, const std::string& what, double bytes) {
    if (const double available = available_memory(); !(bytes <= available))
        throw not_enough_memory(fmt::format("{}: {} would take {}, and this machine has {} free", name, what,
                                            size_text(bytes), size_text(available)));
}

} // namespace fem
