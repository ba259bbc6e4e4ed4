// mfem_reader: elements, vertices and the inline form; mfem_nodes reads the nodes of curved meshes.
#include "examples/fem/mesh/mfem_reader.hpp"

#include "examples/fem/mesh/boundary.hpp"
#include "examples/fem/mesh/mfem_nodes.hpp"

#include <fmt/format.h>

#include <array>

namespace fem {
namespace {

/// MFEM's numbers for element shapes.
enum geometry { segment = 1, square = 3, cube = 5, geometries = 8 };

constexpr std::array<const char*, geometries> geometry_names{
    "a point", "a segment", "a triangle", "a quadrilateral", "a tetrahedron", "a hexahedron", "a prism", "a pyramid"};

/// Checks vertex numbers while the number of vertices is not known yet: it follows the elements in the file.
class vertex_numbers {
  public:
    std::int64_t read(mesh_file& file, const char* part, std::int64_t number) {
        const std::int64_t v = file.integer("a vertex number", 0, INT64_MAX);
        if (v > largest_) largest_ = v, at_ = file.position(), part_ = fmt::format("{} {}", part, number);
        return v;
    }
    void check(const mesh_file& file, std::int64_t vertices) const {
        if (largest_ >= vertices)
            file.fail_at(at_, fmt::format("{} (counted from 0) has vertex {}, but there are {} vertices", part_,
                                          largest_, vertices));
    }

  private:
    std::int64_t largest_ = -1, at_ = 0;
    std::string part_;
};

void read_elements(mesh_file& file, mesh& m, vertex_numbers& numbers) {
    file.expect("elements");
    const int own = m.dimension == 2 ? square : cube, corners = 1 << m.dimension;
    m.elements = file.count("the number of elements", 2 * (2 + corners));
    if (m.elements == 0) file.fail("the mesh has no elements");
    m.attributes.reserve(m.elements);
    m.corners.reserve(m.elements * corners);
    for (std::int64_t e = 0; e < m.elements; ++e) {
        m.attributes.push_back(static_cast<int>(file.integer("an element's attribute", 1, INT32_MAX)));
        const auto shape = file.integer("an element's geometry", 0, geometries - 1);
        if (shape != own)
            file.fail(fmt::format(
                "element {} (counted from 0) is {}, which is not handled in a {}-dimensional mesh, only {}", e,
                geometry_names[shape], m.dimension, geometry_names[own]));
        for (int c = 0; c < corners; ++c) m.corners.push_back(numbers.read(file, "element", e));
        if (const auto twice = repeated(std::span(m.corners).last(corners)))
            file.fail(fmt::format("element {} (counted from 0) has vertex {} twice", e, *twice));
    }
}

/// The named parts of the boundary; `places` are where each stands in the file.
std::vector<named_vertices> read_boundary(mesh_file& file, const mesh& m, vertex_numbers& numbers,
                                          std::vector<std::int64_t>& places) {
    file.expect("boundary");
    const int own = m.dimension == 2 ? segment : square, corners = 1 << (m.dimension - 1);
    const std::int64_t count = file.count("the number of boundary elements", 2 * (2 + corners));
    std::vector<named_vertices> parts(count);
    places.resize(count);
    for (std::int64_t b = 0; b < count; ++b) {
        parts[b].attribute = static_cast<int>(file.integer("a boundary element's attribute", 1, INT32_MAX));
        places[b] = file.position();
        const auto shape = file.integer("a boundary element's geometry", 0, geometries - 1);
        if (shape != own)
            file.fail(fmt::format("boundary element {} (counted from 0) is {}, but should be {}", b,
                                  geometry_names[shape], geometry_names[own]));
        for (int c = 0; c < corners; ++c) parts[b].vertices[c] = numbers.read(file, "boundary element", b);
    }
    return parts;
}

/// Straight elements: order 1, the nodes are the vertices.
void read_vertices(mesh_file& file, mesh& m) {
    const auto space = file.integer("the dimension of the space (or 'nodes')", 1, 3);
    if (space != m.dimension)
        file.fail(
            fmt::format("elements of dimension {} in {}-dimensional space are not handled", m.dimension, space));
    file.check_count("the number of vertices", m.vertices, 2 * m.dimension);
    std::vector<double> at(m.vertices * m.dimension);
    for (double& x : at) x = file.real("a vertex coordinate");

    m.order = 1;
    const std::int64_t n = nodes_per_element(m);
    m.nodes.resize(m.elements * m.dimension * n);
    for (std::int64_t e = 0; e < m.elements; ++e)
        for (std::int64_t c = 0; c < n; ++c)
            for (int d = 0; d < m.dimension; ++d)
                m.nodes[(e * m.dimension + d) * n + lexicographic(corner_positions[c], 1)] =
                    at[m.corners[e * n + c] * m.dimension + d];
}

} // namespace

mesh read_mfem(mesh_file& file) {
    file.comments_start_with('#');
    mesh m;
    m.name = file.path();
    file.expect("dimension");
    m.dimension = static_cast<int>(file.integer("the dimension", 2, 3));
    vertex_numbers numbers;
    read_elements(file, m, numbers);
    std::vector<std::int64_t> places;
    const auto parts = read_boundary(file, m, numbers, places);
    file.expect("vertices");
    m.vertices = file.count("the number of vertices", 1);
    numbers.check(file, m.vertices);
    if (file.take("nodes"))
        read_mfem_nodes(file, m);
    else
        read_vertices(file, m);
    if (const auto stray = attach_boundary(m, parts); stray >= 0)
        file.fail_at(places[stray], fmt::format("boundary element {} (counted from 0) is no {} of any element", stray,
                                                m.dimension == 2 ? "edge" : "face"));
    if (!file.at_end()) file.fail(fmt::format("the mesh is complete, but {} follows", quoted(file.word("the end"))));
    return m;
}

mesh read_mfem_inline(mesh_file& file) {
    file.comments_start_with('#');
    std::string type;
    std::array<std::int64_t, 3> counts{};
    std::array<double, 3> sizes{};
    while (!file.at_end()) {
        const std::string key(file.word("a name"));
        const auto axis = key.size() == 2 ? std::string_view("xyz").find(key[1]) : std::string_view::npos;
        const bool is_count = axis != std::string_view::npos && key[0] == 'n';
        const bool is_size = axis != std::string_view::npos && key[0] == 's';
        if (key != "type" && !is_count && !is_size)
            file.fail(fmt::format("{} is none of type, nx, ny, nz, sx, sy, sz", quoted(key)));
        file.expect("=");
        if (is_count)
            counts[axis] = file.integer(key, 1, INT32_MAX);
        else if (is_size) {
            sizes[axis] = file.real(key);
            if (!(sizes[axis] > 0)) file.fail(fmt::format("{} must be positive", key));
        } else if (type = file.word("the type"); type != "quad" && type != "hex")
            file.fail(fmt::format("type {} is not handled, only quad and hex", quoted(type)));
    }
    if (type.empty()) file.fail("there is no type");
    const int dimension = type == "quad" ? 2 : 3;
    for (int d = 0; d < dimension; ++d)
        if (counts[d] == 0 || sizes[d] == 0)
            file.fail(fmt::format("there is no {}{}", counts[d] == 0 ? 'n' : 's', "xyz"[d]));
    return generate_grid(file.path(), dimension, 1, counts, [sizes](const point& u) -> point {
        return {sizes[0] * u[0], sizes[1] * u[1], sizes[2] * u[2]};
    });
}

} // namespace fem
