// mesh: a mesh of quadrilaterals or hexahedra as plain values, whatever file or generator it came from.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace fem {

/// A mesh that cannot be used; what() names the file, the line or the element, and the reason.
class mesh_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A mesh that is too large for this machine.
class not_enough_memory : public mesh_error {
  public:
    using mesh_error::mesh_error;
};

/// Where the order+1 nodes of an element lie along each direction of the reference element [0, 1].
enum class node_points : std::uint8_t { gauss_lobatto, uniform, gauss_legendre };

/// A face of an element (an edge in 2-D; `face` counts as in topology.hpp) with the number that its file gives to a
/// part of the boundary, or of an interface inside of the domain.
struct boundary_part {
    std::int64_t element = 0;
    int face = 0;
    int attribute = 0;
};

struct mesh {
    std::string name;  ///< for messages: the file, or how it was generated
    int dimension = 0; ///< 2 quadrilaterals in the plane, 3 hexahedra in space
    int order = 0;     ///< of the polynomials that map the reference element to the real one
    node_points points = node_points::gauss_lobatto;
    std::int64_t elements = 0;
    std::vector<double>
        nodes; ///< coordinates [elements][dimension][(order+1)^dimension], last index lexicographic, x first
    std::vector<int> attributes; ///< [elements] the number of the part of the domain
    int refinements =
        0; ///< how often the elements were cut since the file: element e is part of e >> dimension*refinements

    // Connectivity. Two corners with the same number are the same point of the domain, though a periodic mesh gives
    // them different coordinates; global numberings start from it.
    std::int64_t vertices = 0;
    std::vector<std::int64_t> corners; ///< vertex numbers [elements][2^dimension], in the order of corner_positions

    std::vector<boundary_part> boundary; ///< what the file names; boundary.hpp has all of the boundary
};

/// The corners of the reference element in the order that MFEM and Gmsh list them; a quadrilateral has the first
/// four.
inline constexpr std::array<std::array<int, 3>, 8> corner_positions{
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};

/// base to the power `exponent` >= 0.
constexpr std::int64_t power(std::int64_t base, int exponent) {
    std::int64_t result = 1;
    while (exponent-- > 0) result *= base;
    return result;
}

/// Nodes of one element.
inline std::int64_t nodes_per_element(const mesh& m) { return power(m.order + 1, m.dimension); }

/// The lexicographic number of the node at integer position `at`, each in [0, order].
constexpr std::int64_t lexicographic(const std::array<int, 3>& at, int order) {
    return at[0] + (order + 1) * (at[1] + std::int64_t(order + 1) * at[2]);
}

using point = std::array<double, 3>;

/// A grid of `counts` elements of the given order (counts[2] is ignored in 2-D), its unit box mapped through `map`.
/// Sides of the box are boundary parts numbered from 1: y=0, x=1, y=1, x=0; in 3-D z=0, y=0, x=1, y=1, x=0, z=1.
/// Throws mesh_error for counts or orders below 1, not_enough_memory where memory does not suffice.
mesh generate_grid(std::string name, int dimension, int order, std::array<std::int64_t, 3> counts,
                   const std::function<point(const point&)>& map);

/// A quarter of a ring with radii 1 and 2, in 3-D of height 1 and bent, so that every face is curved; about
/// `elements` of them. Its area is 3 pi/4, its volume too, up to the polynomials' error in following a circle.
mesh generate_ring(int dimension, int order, std::int64_t elements);

/// "element 3 (counted from 0)" for a message: the file's element, also where it is a part of that by refinement.
std::string element_text(const mesh& m, std::int64_t e);

/// Bytes of memory that this machine can still give.
double available_memory();

/// "1.5 GB": with the largest unit, up to GB, of which there is one at least.
std::string size_text(double bytes);

/// Throws not_enough_memory when `bytes`, needed for `what` by `name`, is more than available_memory().
void check_memory(const std::string& name, const std::string& what, double bytes);

} // namespace fem
