// mfem_nodes: from MFEM's numbering of the nodes to lexicographic nodes per element.
#include "examples/fem/mfem_nodes.hpp"

#include "examples/fem/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace fem {
namespace {

constexpr int largest_order = 32;

/// What the name of a finite element collection says.
struct collection {
    bool continuous =
        true; ///< neighbours share the nodes of their common face (H1), or every element has its own (L2)
    int order = 0;
    node_points points = node_points::gauss_lobatto;
};

/// Takes `prefix` off the front of `text`, if it is there.
bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// Reads names such as H1_3D_P2 and L2_T1_2D_P3; nothing for any other.
std::optional<collection> parse_collection(std::string_view name, int dimension) {
    if (name == "Linear") return collection{true, 1};
    if (name == "Quadratic") return collection{true, 2};
    collection c;
    if (take(name, "H1_"))
        c.continuous = true;
    else if (take(name, "L2_T0_"))
        c = {false, 0, node_points::gauss_legendre};
    else if (take(name, "L2_T1_"))
        c = {false, 0, node_points::gauss_lobatto};
    else if (take(name, "L2_T4_"))
        c = {false, 0, node_points::uniform};
    else if (take(name, "L2_"))
        c = {false, 0, node_points::gauss_legendre};
    else
        return std::nullopt;
    if (!take(name, fmt::format("{}D_P", dimension))) return std::nullopt;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), c.order);
    if (code != std::errc() || end != name.data() + name.size() || c.order < 1 || c.order > largest_order)
        return std::nullopt;
    return c;
}

/// The reference position steps/order of the way from corner `from` to corner `to`, added to `at`.
void advance(std::array<int, 3>& at, int from, int to, int steps) {
    for (int d = 0; d < 3; ++d) at[d] += steps * (corner_positions[to][d] - corner_positions[from][d]);
}

/// The position of a corner in steps of 1/order.
std::array<int, 3> at_corner(int corner, int order) {
    const auto& c = corner_positions[corner];
    return {c[0] * order, c[1] * order, c[2] * order};
}

/// The corner, among those listed in `candidates`, at which the element has vertex v.
template <std::size_t N>
int corner_with(const std::int64_t* vertices, const std::array<int, N>& candidates, std::int64_t v) {
    return *std::find_if(candidates.begin(), candidates.end(), [&](int c) { return vertices[c] == v; });
}

/// The numbering of an H1 space: vertices, then the inner nodes of edges, of faces, of elements.
class h1_numbering {
  public:
    h1_numbering(const mesh& m, int order) : mesh_(m), topology_(find_topology(m)), order_(order), inner_(order - 1) {
        first_edge_ = m.vertices;
        first_face_ = first_edge_ + topology_.edges * inner_;
        first_interior_ = first_face_ + static_cast<std::int64_t>(topology_.faces.size()) * inner_ * inner_;
    }

    std::int64_t size() const { return first_interior_ + mesh_.elements * power(inner_, mesh_.dimension); }

    /// The numbers of element e's nodes in lexicographic order.
    void nodes_of(std::int64_t e, std::vector<std::int64_t>& numbers) const {
        const std::int64_t* v = &mesh_.corners[e << mesh_.dimension];
        for (int c = 0; c < 1 << mesh_.dimension; ++c) numbers[lexicographic(at_corner(c, order_), order_)] = v[c];
        for (int i = 0; i < topology_.edges_per_element; ++i) edge_nodes(e, i, v, numbers);
        for (int i = 0; i < topology_.faces_per_element; ++i) face_nodes(e, i, v, numbers);
        const std::int64_t interior = power(inner_, mesh_.dimension);
        for (std::int64_t n = 0; n < interior; ++n) {
            const int x = static_cast<int>(n % inner_), y = static_cast<int>(n / inner_ % inner_);
            const int z = static_cast<int>(n / inner_ / inner_);
            const std::array<int, 3> at{x + 1, y + 1, mesh_.dimension == 3 ? z + 1 : 0};
            numbers[lexicographic(at, order_)] = first_interior_ + e * interior + n;
        }
    }

  private:
    /// The nodes of an edge run from its vertex of lower number to the other.
    void edge_nodes(std::int64_t e, int i, const std::int64_t* v, std::vector<std::int64_t>& numbers) const {
        auto [from, to] = element_edges[i];
        if (v[from] > v[to]) std::swap(from, to);
        const std::int64_t first = first_edge_ + topology_.edge_of[e * topology_.edges_per_element + i] * inner_;
        for (int n = 0; n < inner_; ++n) {
            auto at = at_corner(from, order_);
            advance(at, from, to, n + 1);
            numbers[lexicographic(at, order_)] = first + n;
        }
    }

    /// The nodes of a face run from its first vertex to the second, and then towards the fourth, as the first element
    /// that has the face lists its vertices.
    void face_nodes(std::int64_t e, int i, const std::int64_t* v, std::vector<std::int64_t>& numbers) const {
        const std::int64_t number = topology_.face_of[e * topology_.faces_per_element + i];
        const auto& face = topology_.faces[number];
        const int origin = corner_with(v, element_faces[i], face[0]),
                  along = corner_with(v, element_faces[i], face[1]);
        const int across = corner_with(v, element_faces[i], face[3]);
        for (int n = 0; n < inner_ * inner_; ++n) {
            auto at = at_corner(origin, order_);
            advance(at, origin, along, n % inner_ + 1);
            advance(at, origin, across, n / inner_ + 1);
            numbers[lexicographic(at, order_)] = first_face_ + number * inner_ * inner_ + n;
        }
    }

    const mesh& mesh_;
    topology topology_;
    int order_, inner_;
    std::int64_t first_edge_, first_face_, first_interior_;
};

} // namespace

void read_mfem_nodes(mesh_file& file, mesh& m) {
    file.expect("FiniteElementSpace");
    file.expect("FiniteElementCollection:");
    const auto name = file.word("the name of the collection");
    const auto kind = parse_collection(name, m.dimension);
    if (!kind)
        file.fail(
            fmt::format("nodes in the collection {} are not handled in a mesh of dimension {}; handled are Linear, "
                        "Quadratic, H1_{}D_Pk and L2_Tb_{}D_Pk with b = 0, 1, 4 and k = 1..{}",
                        quoted(name), m.dimension, m.dimension, m.dimension, largest_order));
    file.expect("VDim:");
    const auto space = file.integer("the number of coordinates", 1, 3);
    if (space != m.dimension)
        file.fail(
            fmt::format("elements of dimension {} in {}-dimensional space are not handled", m.dimension, space));
    file.expect("Ordering:");
    const bool together = file.integer("the ordering", 0, 1) == 1; // the coordinates of a node stand together

    m.order = kind->order;
    m.points = kind->points;
    const std::int64_t n = nodes_per_element(m);
    std::optional<h1_numbering> shared;
    if (kind->continuous) shared.emplace(m, m.order);
    // Elements were counted against the file's size, so this cannot overflow.
    const std::int64_t nodes = shared ? shared->size() : m.elements * n;
    file.check_count("the number of nodes", nodes, 2 * m.dimension);
    std::vector<double> at(nodes * m.dimension);
    for (double& x : at) x = file.real("a node coordinate");

    m.nodes.resize(m.elements * m.dimension * n);
    std::vector<std::int64_t> numbers(n);
    for (std::int64_t e = 0; e < m.elements; ++e) {
        if (shared)
            shared->nodes_of(e, numbers);
        else
            for (std::int64_t i = 0; i < n; ++i) numbers[i] = e * n + i;
        for (int d = 0; d < m.dimension; ++d)
            for (std::int64_t i = 0; i < n; ++i)
                m.nodes[(e * m.dimension + d) * n + i] =
                    at[together ? numbers[i] * m.dimension + d : d * nodes + numbers[i]];
    }
}

} // namespace fem
