// topology: edges and faces by hashing their sorted vertices.
#include "examples/fem/mesh/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace fem {
namespace {

struct hash {
    template <std::size_t N>
    std::size_t operator()(const std::array<std::int64_t, N>& key) const {
        std::uint64_t h = 0;
        for (const std::int64_t v : key) {
            h = (h ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15u;
            h ^= h >> 32;
        }
        return h;
    }
};

/// The vertices of the parts (edges or faces) of a kind, and which elements use them.
template <std::size_t N>
struct numbering {
    std::unordered_map<std::array<std::int64_t, N>, std::int64_t, hash> numbers;
    std::vector<int> uses;

    /// The number of the part with these vertices in any order, a new one at its first appearance.
    std::int64_t operator()(std::array<std::int64_t, N> vertices) {
        std::sort(vertices.begin(), vertices.end());
        const auto [found, is_new] = numbers.try_emplace(vertices, static_cast<std::int64_t>(uses.size()));
        if (is_new) uses.push_back(0);
        ++uses[found->second];
        return found->second;
    }
};

/// Whether two faces with the same vertices also have the same diagonals.
bool same_diagonals(const std::array<std::int64_t, 4>& f, const std::array<std::int64_t, 4>& g) {
    const auto pair = std::minmax(f[0], f[2]);
    return pair == std::minmax(g[0], g[2]) || pair == std::minmax(g[1], g[3]);
}

} // namespace

std::array<std::int64_t, 4> face_cycle(const mesh& m, std::int64_t e, int face) {
    const std::int64_t* v = &m.corners[e << m.dimension];
    if (m.dimension == 2) return {v[face], v[(face + 1) % 4], -1, -1}; // corners are listed once around
    const auto& f = element_faces[face];
    return {v[f[0]], v[f[1]], v[f[2]], v[f[3]]};
}

bool same_cycle(const std::array<std::int64_t, 4>& f, const std::array<std::int64_t, 4>& g) {
    if (f[2] < 0) return f[0] == g[0];
    const auto at = std::find(f.begin(), f.end(), g[0]) - f.begin();
    return f[(at + 1) % 4] == g[1];
}

topology find_topology(const mesh& m) {
    topology t;
    t.edges_per_element = m.dimension == 2 ? 4 : 12;
    t.faces_per_element = m.dimension == 2 ? 0 : 6;
    t.edge_of.reserve(m.elements * t.edges_per_element);
    t.face_of.reserve(m.elements * t.faces_per_element);
    numbering<2> edges;
    numbering<4> faces;
    const auto check_uses = [&m](int uses, std::int64_t e, const char* what) {
        if (uses > 2)
            throw mesh_error(
                fmt::format("{}: element {} (counted from 0) is the third with the same {}", m.name, e, what));
    };
    for (std::int64_t e = 0; e < m.elements; ++e) {
        const std::int64_t* v = &m.corners[e << m.dimension];
        for (int i = 0; i < t.edges_per_element; ++i) {
            t.edge_of.push_back(edges({v[element_edges[i][0]], v[element_edges[i][1]]}));
            if (m.dimension == 2) check_uses(edges.uses[t.edge_of.back()], e, "edge");
        }
        for (int i = 0; i < t.faces_per_element; ++i) {
            const auto& f = element_faces[i];
            const std::array<std::int64_t, 4> vertices{v[f[0]], v[f[1]], v[f[2]], v[f[3]]};
            const std::int64_t number = faces(vertices);
            t.face_of.push_back(number);
            if (number == static_cast<std::int64_t>(t.faces.size())) t.faces.push_back(vertices);
            check_uses(faces.uses[number], e, "face");
            if (!same_diagonals(vertices, t.faces[number]))
                throw mesh_error(
                    fmt::format("{}: element {} (counted from 0) and a neighbour list the vertices {} {} {} {} of "
                                "a face they share in different orders",
                                m.name, e, vertices[0], vertices[1], vertices[2], vertices[3]));
        }
    }
    t.edges = static_cast<std::int64_t>(edges.uses.size());
    t.elements_at = std::move(m.dimension == 2 ? edges.uses : faces.uses);
    return t;
}

} // namespace fem
