// gmsh_reader: sections, blocks, and elements by their types' numbers.
#include "examples/fem/mesh/gmsh_reader.hpp"

#include "examples/fem/mesh/boundary.hpp"
#include "examples/fem/mesh/gmsh_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace fem {
namespace {

/// What Gmsh's number for an element type means. Lines and points have a node count only.
struct element_type {
    int dimension = 0, order = 0;
    std::int64_t nodes = 0;
};

/// Points, lines and complete quadrilaterals and hexahedra; nothing for other types.
std::optional<element_type> find_type(std::int64_t type) {
    const auto family = [type](int dimension, std::initializer_list<int> types) -> std::optional<element_type> {
        const auto found = std::find(types.begin(), types.end(), type); // types[i] has order i+1
        if (found == types.end()) return std::nullopt;
        const int order = static_cast<int>(found - types.begin()) + 1;
        return element_type{dimension, order, power(order + 1, dimension)};
    };
    if (type == 15) return element_type{0, 1, 1};
    if (const auto line = family(1, {1, 8, 26, 27, 28, 62, 63, 64, 65, 66})) return line;
    if (const auto quadrilateral = family(2, {3, 10, 36, 37, 38, 47, 48, 49, 50, 51})) return quadrilateral;
    return family(3, {5, 12, 92, 93, 94, 95, 96, 97, 98});
}

/// Why a type that find_type does not know is not handled.
std::string name_of_other(std::int64_t type) {
    const auto among = [type](std::initializer_list<std::pair<int, int>> ranges) {
        return std::any_of(ranges.begin(), ranges.end(),
                           [type](const auto& r) { return r.first <= type && type <= r.second; });
    };
    if (among({{2, 2}, {9, 9}, {20, 25}, {42, 46}, {52, 56}})) return "a triangle";
    if (among({{4, 4}, {11, 11}, {29, 33}, {71, 75}, {79, 83}})) return "a tetrahedron";
    if (among({{6, 6}, {13, 13}, {18, 18}, {90, 91}, {106, 117}})) return "a prism";
    if (among({{7, 7}, {14, 14}, {19, 19}, {118, 131}})) return "a pyramid";
    if (among({{16, 17}, {39, 41}, {57, 61}, {99, 105}}))
        return "an incomplete (serendipity) element; mesh with Mesh.SecondOrderIncomplete = 0";
    return "of a kind unknown here";
}

/// Numbers in either of the format's two forms.
class gmsh_numbers {
  public:
    gmsh_numbers(mesh_file& file, bool binary) : file_(file), binary_(binary) {}
    int whole(std::string_view what) {
        return binary_ ? file_.raw<int>(what) : static_cast<int>(file_.integer(what, INT32_MIN, INT32_MAX));
    }
    std::int64_t tag(std::string_view what) { return size(what, 1); }
    std::int64_t size(std::string_view what, std::int64_t low) {
        if (!binary_) return file_.integer(what, low, INT64_MAX);
        const auto value = file_.raw<std::uint64_t>(what);
        if (value > INT64_MAX || static_cast<std::int64_t>(value) < low)
            file_.fail(fmt::format("{} is {}, which cannot be", what, value));
        return static_cast<std::int64_t>(value);
    }
    double real(std::string_view what) {
        if (!binary_) return file_.real(what);
        const auto value = file_.raw<double>(what);
        if (!std::isfinite(value)) file_.fail(fmt::format("{} is not a finite number", what));
        return value;
    }
    /// A number of things of `words` numbers each.
    std::int64_t count(std::string_view what, std::int64_t words) {
        const std::int64_t n = size(what, 0);
        file_.check_count(what, n, words * (binary_ ? 4 : 2)); // 4: a binary number is an int, a size or a double
        return n;
    }
    void skip_wholes(std::string_view what, std::int64_t n) {
        while (n-- > 0) whole(what);
    }

  private:
    mesh_file& file_;
    bool binary_;
};

class gmsh_reader {
  public:
    gmsh_reader(mesh_file& file, bool binary) : file_(file), in_(file, binary) {}

    // Each reads the content of a section.
    void read_entities();
    void read_nodes();
    void read_elements();
    bool has_nodes() const { return !coordinates_.empty(); }
    mesh finish();

  private:
    void attach_parts(mesh& m, const std::vector<std::int64_t>& vertex) const;

    struct element {
        std::int64_t at = 0; ///< where it stands in the file
        int entity = 0;
        std::int64_t first_node = 0; ///< into node_tags_
    };

    std::int64_t node_with(std::int64_t tag, const element& e) const;

    mesh_file& file_;
    gmsh_numbers in_;
    std::map<std::pair<int, int>, int> physical_;              ///< (dimension, entity) -> its first physical group
    std::vector<double> coordinates_;                          ///< x y z of each node
    std::vector<std::pair<std::int64_t, std::int64_t>> nodes_; ///< (tag, number), sorted
    element_type type_; ///< of the elements kept: of the highest dimension seen
    std::vector<element> elements_;
    std::vector<std::int64_t> node_tags_;

    /// A line or a quadrilateral by its corners' tags, which may be a part of the boundary.
    struct part {
        int dimension = 0, entity = 0;
        std::array<std::int64_t, 4> tags{};
    };
    std::vector<part> parts_;
};

void gmsh_reader::read_entities() {
    std::int64_t counts[4];
    for (auto& n : counts) n = in_.count("the number of entities", 4);
    for (int dimension = 0; dimension <= 3; ++dimension)
        for (std::int64_t i = 0; i < counts[dimension]; ++i) {
            const int tag = in_.whole("an entity's tag");
            for (int x = 0; x < (dimension == 0 ? 3 : 6); ++x) in_.real("an entity's extent");
            const std::int64_t groups = in_.count("an entity's number of physical groups", 1);
            for (std::int64_t g = 0; g < groups; ++g) {
                const int group = in_.whole("a physical group's tag");
                // A negative tag means the group holds the entity with its orientation reversed.
                if (g == 0) physical_[{dimension, tag}] = std::abs(group);
            }
            if (dimension > 0) in_.skip_wholes("a bounding entity", in_.count("an entity's number of boundaries", 1));
        }
}

void gmsh_reader::read_nodes() {
    if (has_nodes()) file_.fail("a second $Nodes section");
    const std::int64_t blocks = in_.count("the number of blocks of nodes", 4);
    const std::int64_t total = in_.count("the number of nodes", 4);
    if (total == 0) file_.fail("the mesh has no nodes");
    in_.size("the smallest node tag", 0), in_.size("the largest node tag", 0);
    for (std::int64_t b = 0; b < blocks; ++b) {
        const int dimension = in_.whole("an entity's dimension");
        if (dimension < 0 || dimension > 3) file_.fail(fmt::format("an entity cannot have dimension {}", dimension));
        in_.whole("an entity's tag");
        const int parameters = in_.whole("whether nodes have parameters") != 0 ? dimension : 0;
        const std::int64_t n = in_.count("the number of nodes in a block", 4);
        const auto first = static_cast<std::int64_t>(nodes_.size());
        if (first + n > total) file_.fail(fmt::format("the blocks hold more than the {} nodes announced", total));
        for (std::int64_t i = 0; i < n; ++i) nodes_.emplace_back(in_.tag("a node's tag"), first + i);
        for (std::int64_t i = 0; i < n; ++i) {
            for (int x = 0; x < 3; ++x) coordinates_.push_back(in_.real("a node's coordinate"));
            for (int u = 0; u < parameters; ++u) in_.real("a node's parameter");
        }
    }
    if (static_cast<std::int64_t>(nodes_.size()) != total)
        file_.fail(fmt::format("the blocks hold {} nodes, but {} were announced", nodes_.size(), total));
    std::sort(nodes_.begin(), nodes_.end());
    const auto twice = std::adjacent_find(nodes_.begin(), nodes_.end(),
                                          [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != nodes_.end()) file_.fail(fmt::format("the node tag {} occurs twice", twice->first));
}

void gmsh_reader::read_elements() {
    const std::int64_t blocks = in_.count("the number of blocks of elements", 4);
    const std::int64_t total = in_.count("the number of elements", 2);
    in_.size("the smallest element tag", 0), in_.size("the largest element tag", 0);
    std::int64_t seen = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
        in_.whole("an entity's dimension");
        const int entity = in_.whole("an entity's tag");
        const int number = in_.whole("an element type");
        const auto type = find_type(number);
        if (!type)
            file_.fail(
                fmt::format("element type {} is not handled: it is {}; handled are complete quadrilaterals and "
                            "hexahedra",
                            number, name_of_other(number)));
        const std::int64_t n = in_.count("the number of elements in a block", 1 + type->nodes);
        seen += n;
        if (seen > total) file_.fail(fmt::format("the blocks hold more than the {} elements announced", total));
        const bool higher = type->dimension > type_.dimension && n > 0;
        if (higher) type_ = *type, elements_.clear(), node_tags_.clear();
        const bool kept = n > 0 && type->dimension == type_.dimension && type_.dimension >= 2;
        if (kept && type->order != type_.order)
            file_.fail(fmt::format("elements of order {} among elements of order {} are not handled", type->order,
                                   type_.order));
        for (std::int64_t i = 0; i < n; ++i) {
            in_.tag("an element's tag");
            const bool is_part = type->dimension == 1 || type->dimension == 2;
            if (is_part) parts_.push_back({type->dimension, entity});
            if (kept) elements_.push_back({file_.position(), entity, static_cast<std::int64_t>(node_tags_.size())});
            for (std::int64_t k = 0; k < type->nodes; ++k) {
                const std::int64_t tag = in_.tag("an element's node");
                if (kept) node_tags_.push_back(tag);
                if (is_part && k < 2 * type->dimension) parts_.back().tags[k] = tag;
            }
            if (!kept) continue;
            const auto corners = std::span(node_tags_).last(type->nodes).first(1 << type->dimension);
            if (const auto twice = repeated(corners))
                file_.fail_at(elements_.back().at, fmt::format("the element has node {} twice", *twice));
        }
    }
    if (seen != total) file_.fail(fmt::format("the blocks hold {} elements, but {} were announced", seen, total));
}

std::int64_t gmsh_reader::node_with(std::int64_t tag, const element& e) const {
    const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), std::pair{tag, std::int64_t{0}});
    if (found == nodes_.end() || found->first != tag)
        file_.fail_at(e.at, fmt::format("the element has node {}, which is not among the nodes", tag));
    return found->second;
}

/// Elements of the next lower dimension are parts of the boundary where they are faces of an element; others (Gmsh
/// keeps what geometry they were meshed on) are left out. `vertex` has the number of each node that is a corner.
void gmsh_reader::attach_parts(mesh& m, const std::vector<std::int64_t>& vertex) const {
    std::vector<named_vertices> named;
    for (const part& p : parts_) {
        if (p.dimension != m.dimension - 1) continue;
        const auto group = physical_.find({p.dimension, p.entity});
        named_vertices n{{}, group == physical_.end() ? p.entity : group->second};
        bool known = true;
        for (int k = 0; k < 2 * p.dimension && known; ++k) {
            const auto node = std::lower_bound(nodes_.begin(), nodes_.end(), std::pair{p.tags[k], std::int64_t{0}});
            known = node != nodes_.end() && node->first == p.tags[k] && vertex[node->second] >= 0;
            if (known) n.vertices[k] = vertex[node->second];
        }
        if (known) named.push_back(n);
    }
    attach_boundary(m, named);
}

mesh gmsh_reader::finish() {
    if (elements_.empty()) file_.fail("the mesh has no quadrilaterals and no hexahedra");
    mesh m;
    m.name = file_.path();
    m.dimension = type_.dimension;
    m.order = type_.order;
    m.points = node_points::uniform;
    m.elements = static_cast<std::int64_t>(elements_.size());
    const auto positions = gmsh_node_positions(m.dimension, m.order);
    const std::int64_t n = type_.nodes;
    m.nodes.resize(m.elements * m.dimension * n);
    double lowest = INFINITY, highest = -INFINITY, largest = 0;
    std::vector<std::int64_t> vertex(nodes_.size(), -1); // its number, for a node that is some element's corner
    for (std::int64_t e = 0; e < m.elements; ++e) {
        const element& from = elements_[e];
        const auto group = physical_.find({m.dimension, from.entity});
        m.attributes.push_back(group == physical_.end() ? from.entity : group->second);
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t node = node_with(node_tags_[from.first_node + k], from);
            const double* x = &coordinates_[3 * node];
            for (int d = 0; d < m.dimension; ++d)
                m.nodes[(e * m.dimension + d) * n + lexicographic(positions[k], m.order)] = x[d];
            if (m.dimension == 2) {
                lowest = std::min(lowest, x[2]), highest = std::max(highest, x[2]);
                largest = std::max({largest, std::abs(x[0]), std::abs(x[1])});
            }
            if (k < 1 << m.dimension) { // the corners come first
                if (vertex[node] < 0) vertex[node] = m.vertices++;
                m.corners.push_back(vertex[node]);
            }
        }
    }
    attach_parts(m, vertex);
    // Gmsh places nodes to about 1e-10 of the model's size.
    if (m.dimension == 2 && highest - lowest > 1e-8 * largest)
        file_.fail(
            fmt::format("the quadrilaterals form a surface in space (z from {:.4g} to {:.4g}), which is not handled; "
                        "they must lie in a plane of constant z",
                        lowest, highest));
    return m;
}

/// Reads the rest of the section $MeshFormat: whether the file is binary.
bool read_format(mesh_file& file) {
    const auto version = std::string(file.word("the format's version"));
    const bool binary = file.integer("the file type", 0, 1) == 1;
    const auto word_size = file.integer("the size of a size_t", 1, 16);
    if (version != "4.1")
        file.fail(fmt::format(
            "format version {} is not handled, only 4.1; convert the file with\n  gmsh -0 {} -format msh41 -o "
            "new.msh\nor export it again with Mesh.MshFileVersion = 4.1",
            quoted(version), file.path()));
    if (word_size != 8) file.fail(fmt::format("a size_t of {} bytes is not handled, only 8", word_size));
    if (binary) {
        file.rest_of_line();
        if (file.raw<int>("the number 1, which shows the byte order") != 1)
            file.fail("the binary file was written on a machine of other byte order, or its header is damaged");
    }
    file.expect("$EndMeshFormat");
    return binary;
}

} // namespace

mesh read_gmsh(mesh_file& file) {
    const bool binary = read_format(file);
    if (binary) file.report_bytes();
    gmsh_reader reader(file, binary);
    while (!file.at_end()) {
        const std::string section(file.word("a section"));
        if (section.size() < 2 || section[0] != '$')
            file.fail(fmt::format("the start of a section was expected, such as $Nodes, not {}", quoted(section)));
        const bool known = section == "$Entities" || section == "$Nodes" || section == "$Elements";
        const std::int64_t start = file.position();
        if (known && binary) file.rest_of_line();
        if (section == "$Entities")
            reader.read_entities();
        else if (section == "$Nodes")
            reader.read_nodes();
        else if (section == "$Elements")
            reader.read_elements();
        const auto end = "$End" + section.substr(1);
        if (known)
            file.expect(end);
        else if (!file.skip_past("\n" + end))
            file.fail_at(start, fmt::format("section {} has no {}", section, end));
    }
    if (!reader.has_nodes()) file.fail("there is no section $Nodes");
    return reader.finish();
}

} // namespace fem
