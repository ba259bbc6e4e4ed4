// face_map: the elements' nodes on the faces give tangents, their vector product the normal.
#include "examples/fem/operators/face_map.hpp"

#include "examples/fem/mesh/topology.hpp"
#include "examples/fem/operators/geometry.hpp"
#include "examples/fem/operators/shaped.hpp"

namespace fem {
namespace {

using namespace ricci::indices;

/// +1 where the vector product of a face's tangents, that of the lower direction first, points out of the element,
/// else -1. Directions 1,2 and 0,1 are in the cyclic order that makes the product point along the third, 0,2 are not.
/// In 2-D (t_y, -t_x) stands for the product: it points along direction 0 for t along 1, against 1 for t along 0.
double orientation(const side& s) { return (s.end == 1 ? 1 : -1) * (s.axis == 1 ? -1 : 1); }

/// The Levi-Civita symbol: 1 for even permutations of the indices, -1 for odd ones, else 0.
vector permutation_symbol(int dimension, const ricci::device& device) {
    if (dimension == 2) return to_device(std::vector<double>{0, -1, 1, 0}, device);
    std::vector<double> symbol(27);
    for (int n = 0; n < 3; ++n) {
        const int next = (n + 1) % 3, last = (n + 2) % 3;
        symbol[n + 3 * next + 9 * last] = 1;
        symbol[n + 3 * last + 9 * next] = -1;
    }
    return to_device(symbol, device);
}

} // namespace

face_map::face_map(const mesh& from, const std::vector<boundary_part>& faces, const rule& along, ricci::device device)
    : faces_(static_cast<std::int64_t>(faces.size())), count_(power(along.size(), from.dimension - 1)),
      device_(device), points_(ricci::uninitialized, count_ * from.dimension * faces_, device),
      normals_(ricci::uninitialized, count_ * from.dimension * faces_, device) {
    find(from, faces, along);
}

void face_map::find(const mesh& from, const std::vector<boundary_part>& faces, const rule& along) {
    const std::int64_t F = faces_, N = from.order + 1, Q = along.size(), d = from.dimension;
    const std::int64_t n = nodes_per_element(from), on_face = power(N, from.dimension - 1);
    // Gauss-Legendre nodes are all inside of the element: the same polynomials, by nodes that have both ends.
    const bool inside = from.points == node_points::gauss_legendre;
    const node_points kind = inside ? node_points::gauss_lobatto : from.points;
    const std::vector<double> nodes = positions(kind, from.order);
    const vector all = to_device(inside ? mapped_points(from, nodes, device_) : from.nodes, device_);

    std::vector<std::int64_t> element_of, node_of;
    std::vector<double> signs;
    for (const boundary_part& part : faces) {
        element_of.push_back(part.element);
        const auto at = nodes_on_face(from.dimension, from.order, part.face);
        node_of.insert(node_of.end(), at.begin(), at.end());
        signs.push_back(orientation(side_of(from.dimension, part.face)));
    }
    const index_table element = to_device(element_of, device_), node_numbers = to_device(node_of, device_);
    const auto node = shaped<2>(node_numbers, {on_face, F});
    vector nodes_of_faces(ricci::uninitialized, on_face * d * F, device_);
    shaped<3>(nodes_of_faces, {on_face, d, F})(i, x, f) =
        shaped<3>(all, {n, d, from.elements})(node(i, f), x, element(f));

    const lagrange shape(nodes);
    const matrix B = to_device(shape.values(along.points), device_);
    const matrix G = to_device(shape.derivatives(along.points), device_);
    const vector weight = to_device(along.weights, device_), sign = to_device(signs, device_);
    const vector symbol = permutation_symbol(from.dimension, device_);
    if (d == 2) {
        const auto X = shaped<3>(nodes_of_faces, {N, 2, F});
        const auto epsilon = shaped<2>(symbol, {2, 2});
        vector tangents(ricci::uninitialized, Q * 2 * F, device_);
        const auto t = shaped<3>(tangents, {Q, 2, F});
        shaped<3>(points_, {Q, 2, F})(q, x, f) = B(q, i) * X(i, x, f);
        t(q, x, f) = G(q, i) * X(i, x, f);
        shaped<3>(normals_, {Q, 2, F})(q, x, f) = weight(q) * sign(f) * epsilon(x, y) * t(q, y, f);
    } else {
        const auto X = shaped<4>(nodes_of_faces, {N, N, 3, F});
        const auto epsilon = shaped<3>(symbol, {3, 3, 3});
        vector firsts(ricci::uninitialized, Q * Q * 3 * F, device_),
            seconds(ricci::uninitialized, Q * Q * 3 * F, device_);
        const auto t = shaped<4>(firsts, {Q, Q, 3, F}), u = shaped<4>(seconds, {Q, Q, 3, F});
        shaped<4>(points_, {Q, Q, 3, F})(q, r, x, f) = B(q, i) * B(r, j) * X(i, j, x, f);
        t(q, r, x, f) = G(q, i) * B(r, j) * X(i, j, x, f);
        u(q, r, x, f) = B(q, i) * G(r, j) * X(i, j, x, f);
        shaped<4>(normals_, {Q, Q, 3, F})(q, r, x, f) =
            weight(q) * weight(r) * sign(f) * epsilon(x, y, z) * t(q, r, y, f) * u(q, r, z, f);
    }
}

std::vector<std::int64_t> numbers_on_faces(const h1_space& space, const std::vector<boundary_part>& faces) {
    std::vector<std::int64_t> numbers;
    for (const boundary_part& part : faces)
        for (const std::int64_t node : nodes_on_face(space.dimension(), space.order(), part.face))
            numbers.push_back(space.numbers()[node + space.nodes() * part.element]);
    return numbers;
}

} // namespace fem
