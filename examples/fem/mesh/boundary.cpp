// boundary: parts of a file are matched with elements' faces by their sorted vertices.
#include "examples/fem/mesh/boundary.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace fem {
namespace {

using vertex_set = std::array<std::int64_t, 4>;

vertex_set sorted(vertex_set vertices, int dimension) {
    if (dimension == 2) vertices[2] = vertices[3] = -1;
    std::sort(vertices.begin(), vertices.end());
    return vertices;
}

vertex_set vertices_of(const mesh& m, std::int64_t e, int face) {
    const std::int64_t* v = &m.corners[e << m.dimension];
    if (m.dimension == 2) return sorted({v[element_edges[face][0]], v[element_edges[face][1]]}, 2);
    const auto& f = element_faces[face];
    return sorted({v[f[0]], v[f[1]], v[f[2]], v[f[3]]}, 3);
}

} // namespace

std::int64_t attach_boundary(mesh& m, const std::vector<named_vertices>& parts) {
    // Only the named parts are kept, not all faces: there are far fewer of them.
    std::map<vertex_set, std::size_t> wanted;
    for (std::size_t n = 0; n < parts.size(); ++n) wanted.emplace(sorted(parts[n].vertices, m.dimension), n);
    std::vector<bool> found(parts.size());
    for (std::int64_t e = 0; !wanted.empty() && e < m.elements; ++e)
        for (int face = 0; face < faces_of_element(m.dimension); ++face) {
            const auto part = wanted.find(vertices_of(m, e, face));
            if (part == wanted.end() || found[part->second]) continue;
            found[part->second] = true;
            m.boundary.push_back({e, face, parts[part->second].attribute});
        }
    for (const auto& [vertices, n] : wanted)
        if (!found[n]) return static_cast<std::int64_t>(n);
    return -1;
}

std::vector<boundary_part> boundary_faces(const mesh& m, const topology& t) {
    std::map<std::pair<std::int64_t, int>, int> named;
    for (const boundary_part& part : m.boundary) named[{part.element, part.face}] = part.attribute;
    std::vector<boundary_part> faces;
    for (std::int64_t e = 0; e < m.elements; ++e)
        for (int face = 0; face < faces_of_element(m.dimension); ++face)
            if (t.elements_at[t.separator(e, face)] == 1) {
                const auto name = named.find({e, face});
                faces.push_back({e, face, name == named.end() ? 0 : name->second});
            }
    return faces;
}

} // namespace fem
