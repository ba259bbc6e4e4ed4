// vtu: nodes become uniform ones by a contraction, and are written in VTK's order as base64.
#include "examples/fem/output/vtu.hpp"

#include "examples/fem/operators/gather_scatter.hpp"
#include "examples/fem/operators/geometry.hpp"
#include "examples/fem/operators/interpolation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace fem {
namespace {

/// VTK's numbers for its cells of any order.
constexpr int lagrange_quadrilateral = 70, lagrange_hexahedron = 72;

std::string base64(std::span<const unsigned char> bytes) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t n = 0; n < bytes.size(); n += 3) {
        const std::size_t there = std::min<std::size_t>(3, bytes.size() - n);
        std::uint32_t word = 0;
        for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (k < there ? bytes[n + k] : 0u);
        for (std::size_t k = 0; k < 4; ++k) text += k <= there ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

/// Numbers as VTK has them inline: how many bytes there are, then the bytes.
template <class T>
void write_array(common::output_file& file, const std::string& attributes, const std::vector<T>& values) {
    const std::uint64_t size = values.size() * sizeof(T);
    std::vector<unsigned char> bytes(sizeof size + size);
    std::memcpy(bytes.data(), &size, sizeof size);
    std::memcpy(bytes.data() + sizeof size, values.data(), size);
    const char* type = std::is_same_v<T, double>         ? "Float64"
                       : std::is_same_v<T, std::int64_t> ? "Int64"
                       : std::is_same_v<T, std::int32_t> ? "Int32"
                                                         : "UInt8";
    file.write(fmt::format("<DataArray type=\"{}\" {} format=\"binary\">\n", type, attributes));
    file.write(base64(bytes));
    file.write("\n</DataArray>\n");
}

/// Values of a function of the space at uniform nodes of the given order, [elements][nodes].
std::vector<double> at_uniform_nodes(const h1_space& space, const vector& values, int order) {
    const auto& device = values.device();
    const std::int64_t E = space.elements();
    const lagrange basis(positions(node_points::gauss_lobatto, space.order()));
    const matrix T = to_device(basis.values(positions(node_points::uniform, order)), device);
    vector own(ricci::uninitialized, space.nodes() * E, device);
    vector at(ricci::uninitialized, power(order + 1, space.dimension()) * E, device);
    gather_scatter(space, device).gather(values, shaped<2>(own, {space.nodes(), E}));
    interpolate(T, space.dimension(), E, own, at);
    return at.download();
}

} // namespace

std::vector<std::array<int, 3>> vtk_node_positions(int dimension, int order) {
    std::vector<std::array<int, 3>> nodes;
    nodes.reserve(power(order + 1, dimension));
    const auto corner = [&](int c) {
        return std::array<int, 3>{corner_positions[c][0] * order, corner_positions[c][1] * order,
                                  corner_positions[c][2] * order};
    };
    const int n = order, inner = order - 1;
    for (int c = 0; c < 1 << dimension; ++c) nodes.push_back(corner(c));
    // Edges of the bottom, of the top, then those between, each towards growing coordinates.
    constexpr std::array<std::array<int, 2>, 12> edges{
        {{0, 1}, {1, 2}, {3, 2}, {0, 3}, {4, 5}, {5, 6}, {7, 6}, {4, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}};
    for (int edge = 0; edge < (dimension == 2 ? 4 : 12); ++edge) {
        const auto from = corner(edges[edge][0]), to = corner(edges[edge][1]);
        for (int step = 1; step <= inner; ++step) {
            auto at = from;
            for (int d = 0; d < 3; ++d) at[d] += (to[d] - from[d]) / n * step;
            nodes.push_back(at);
        }
    }
    if (dimension == 2) {
        for (int y = 1; y < n; ++y)
            for (int x = 1; x < n; ++x) nodes.push_back({x, y, 0});
        return nodes;
    }
    for (int axis = 0; axis < 3; ++axis) // faces across x, y, z; the lower coordinate is fastest
        for (const int end : {0, n}) {
            const int first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
            for (int v = 1; v < n; ++v)
                for (int u = 1; u < n; ++u) {
                    std::array<int, 3> at{};
                    at[axis] = end, at[first] = u, at[second] = v;
                    nodes.push_back(at);
                }
        }
    for (int z = 1; z < n; ++z)
        for (int y = 1; y < n; ++y)
            for (int x = 1; x < n; ++x) nodes.push_back({x, y, z});
    return nodes;
}

void write_vtu(const mesh& from, const h1_space& space, const std::vector<named_field>& fields,
               common::output_file& file) {
    const int order = std::max(from.order, space.order());
    const auto places = vtk_node_positions(from.dimension, order);
    const auto n = static_cast<std::int64_t>(places.size());
    std::vector<std::int64_t> lexical;
    lexical.reserve(n);
    for (const auto& at : places) lexical.push_back(lexicographic(at, order));
    check_memory(from.name, "writing a VTU file", 8.0 * 12 * static_cast<double>(n * from.elements));

    const auto device = fields.empty() ? ricci::cpu() : fields.front().values->device();
    const std::vector<double> at = mapped_points(from, positions(node_points::uniform, order), device);
    std::vector<double> points(3 * n * from.elements);
    for (std::int64_t e = 0; e < from.elements; ++e)
        for (std::int64_t k = 0; k < n; ++k)
            for (int d = 0; d < from.dimension; ++d)
                points[3 * (k + n * e) + d] = at[lexical[k] + n * (d + from.dimension * e)];
    std::vector<std::int64_t> connectivity(n * from.elements), offsets(from.elements);
    for (std::int64_t k = 0; k < n * from.elements; ++k) connectivity[k] = k;
    for (std::int64_t e = 0; e < from.elements; ++e) offsets[e] = n * (e + 1);
    const std::vector<std::uint8_t> types(from.elements,
                                          from.dimension == 2 ? lagrange_quadrilateral : lagrange_hexahedron);

    // Version 2.2: hexahedra's last two edges are in the order of VTK 9.1 and later.
    file.write(fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"2.2\" "
                           "byte_order=\"{}\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"
                           "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<PointData>\n",
                           std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian",
                           n * from.elements, from.elements));
    for (const named_field& field : fields) {
        const std::vector<double> uniform = at_uniform_nodes(space, *field.values, order);
        std::vector<double> values(uniform.size());
        for (std::int64_t e = 0; e < from.elements; ++e)
            for (std::int64_t k = 0; k < n; ++k) values[k + n * e] = uniform[lexical[k] + n * e];
        write_array(file, fmt::format("Name=\"{}\"", field.name), values);
    }
    file.write("</PointData>\n<CellData>\n");
    write_array(file, "Name=\"attribute\"",
                std::vector<std::int32_t>(from.attributes.begin(), from.attributes.end()));
    file.write("</CellData>\n<Points>\n");
    write_array(file, "NumberOfComponents=\"3\"", points);
    file.write("</Points>\n<Cells>\n");
    write_array(file, "Name=\"connectivity\"", connectivity);
    write_array(file, "Name=\"offsets\"", offsets);
    write_array(file, "Name=\"types\"", types);
    file.write("</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
}

} // namespace fem
