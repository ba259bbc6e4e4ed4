// gmsh_order: Gmsh's recursive node ordering.
#include "examples/fem/mesh/gmsh_order.hpp"

#include "examples/fem/mesh/mesh.hpp"

namespace fem {
namespace {

using position = std::array<int, 3>;

// Gmsh's edges and faces of a hexahedron; a quadrilateral's edges go around it.
constexpr int quadrilateral_edges[4][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
constexpr int hexahedron_edges[12][2] = {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3},
                                         {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}};
constexpr int hexahedron_faces[6][4] = {{0, 3, 2, 1}, {0, 1, 5, 4}, {0, 4, 7, 3},
                                        {1, 2, 6, 5}, {2, 3, 7, 6}, {4, 5, 6, 7}};

/// The corner `c`, plus `a` steps towards corner `to_a` and `b` steps towards corner `to_b`.
position walk(int order, int c, int to_a, int a, int to_b, int b) {
    position at{};
    for (int d = 0; d < 3; ++d) {
        const int from = corner_positions[c][d];
        at[d] = order * from + a * (corner_positions[to_a][d] - from) + b * (corner_positions[to_b][d] - from);
    }
    return at;
}

} // namespace

std::vector<position> gmsh_node_positions(int dimension, int order) {
    if (order == 0) return {position{}};
    std::vector<position> at;
    for (int c = 0; c < 1 << dimension; ++c) at.push_back(walk(order, c, c, 0, c, 0));
    const auto edge = [&](const int(&e)[2]) {
        for (int i = 1; i < order; ++i) at.push_back(walk(order, e[0], e[1], i, e[0], 0));
    };
    if (dimension == 2)
        for (const auto& e : quadrilateral_edges) edge(e);
    else
        for (const auto& e : hexahedron_edges) edge(e);
    if (order == 1) return at;
    if (dimension == 3) {
        const auto inside = gmsh_node_positions(2, order - 2);
        for (const auto& f : hexahedron_faces)
            for (const auto& p : inside) at.push_back(walk(order, f[0], f[1], p[0] + 1, f[3], p[1] + 1));
    }
    for (const auto& p : gmsh_node_positions(dimension, order - 2))
        at.push_back({p[0] + 1, p[1] + 1, dimension == 3 ? p[2] + 1 : 0});
    return at;
}

} // namespace fem
