// mfem_nodes: from MFEM's numbering of the nodes to lexicographic nodes per element.
#include "examples/fem/mesh/mfem_nodes.hpp"

#include "examples/fem/mesh/topology.hpp"
#include "examples/fem/space/h1_numbering.hpp"

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
    std::optional<topology> parts;
    std::optional<h1_numbering> shared;
    if (kind->continuous) shared.emplace(m, parts.emplace(find_topology(m)), m.order);
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
