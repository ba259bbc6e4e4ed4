// element_matrices: see element_matrices.hpp.
#include "examples/fem/operators/element_matrices.hpp"

#include "examples/fem/operators/shaped.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

namespace fem {
namespace {

using namespace ricci::indices;

vector no_matrices(const tables& basis, int dimension, std::int64_t elements) {
    const double n = std::pow(basis.nodes(), dimension);
    check_memory("the mesh", fmt::format("element matrices of order {}", basis.order),
                 2 * 8.0 * n * n * static_cast<double>(elements));
    const std::int64_t nodes = power(basis.nodes(), dimension);
    return vector(nodes * nodes * elements, basis.device());
}

/// B(q,i) over all points and nodes of an element, as a table of the host.
table dense_values(const tables& basis, int dimension) {
    const lagrange shape(positions(node_points::gauss_lobatto, basis.order));
    return tensor_product(shape.values(basis.along.points), dimension);
}

/// G(q,i,x), the derivative in reference direction x.
vector dense_gradients(const tables& basis, int dimension) {
    const lagrange shape(positions(node_points::gauss_lobatto, basis.order));
    const table values = shape.values(basis.along.points), slopes = shape.derivatives(basis.along.points);
    std::vector<double> all;
    for (int direction = 0; direction < dimension; ++direction) {
        std::vector<const table*> along(dimension, &values);
        along[direction] = &slopes;
        const table one = tensor_product(along);
        all.insert(all.end(), one.values.begin(), one.values.end());
    }
    return to_device(all, basis.device());
}

/// A(i,j,..,k,l,..,e) += X(a,i)*X'(a,k) * Y(b,j)*Y'(b,l) * ... * S(a,b,..,number,e): the term of test functions that
/// have left[x] and trial functions that have right[x] in direction x.
void add_term(const std::array<const matrix*, 3>& left, const std::array<const matrix*, 3>& right, int dimension,
              std::int64_t elements, const vector& at_points, std::int64_t number, std::int64_t numbers,
              vector& matrices) {
    const std::int64_t Q = left[0]->extent(0), P = left[0]->extent(1), E = elements;
    const matrix &X = *left[0], &U = *right[0], &Y = *left[1], &V = *right[1];
    if (dimension == 2) {
        const auto S = shaped<4>(at_points, {Q, Q, numbers, E});
        shaped<5>(matrices, {P, P, P, P, E})(i, j, l, m, e) +=
            X(a, i) * U(a, l) * Y(b, j) * V(b, m) * S(a, b, number, e);
    } else {
        const matrix &Z = *left[2], &W = *right[2];
        const auto S = shaped<5>(at_points, {Q, Q, Q, numbers, E});
        shaped<7>(matrices, {P, P, P, P, P, P, E})(i, j, k, l, m, n, e) +=
            X(a, i) * U(a, l) * Y(b, j) * V(b, m) * Z(c, k) * W(c, n) * S(a, b, c, number, e);
    }
}

} // namespace

vector element_mass_matrices(const tables& basis, int dimension, std::int64_t elements, const vector& weights,
                             assembly how) {
    vector matrices = no_matrices(basis, dimension, elements);
    const std::int64_t nodes = power(basis.nodes(), dimension), points = power(basis.points(), dimension);
    if (how == assembly::dense) {
        const matrix B = to_device(dense_values(basis, dimension), basis.device());
        const auto W = shaped<2>(weights, {points, elements});
        shaped<3>(matrices, {nodes, nodes, elements})(i, j, e) = B(q, i) * W(q, e) * B(q, j);
    } else {
        const matrix* B = &basis.B;
        add_term({B, B, B}, {B, B, B}, dimension, elements, weights, 0, 1, matrices);
    }
    return matrices;
}

vector element_diffusion_matrices(const tables& basis, int dimension, std::int64_t elements, const vector& metric,
                                  assembly how) {
    vector matrices = no_matrices(basis, dimension, elements);
    const std::int64_t nodes = power(basis.nodes(), dimension), points = power(basis.points(), dimension);
    const std::int64_t d = dimension, numbers = d * (d + 1) / 2;
    const std::vector<std::int64_t> symmetric = symmetric_table(dimension);
    if (how == assembly::dense) {
        const vector gradients = dense_gradients(basis, dimension);
        const index_table entry_numbers = to_device(symmetric, basis.device());
        const auto G = shaped<3>(gradients, {points, nodes, d});
        const auto D = shaped<3>(metric, {points, numbers, elements});
        const auto entry = shaped<2>(entry_numbers, {d, d}); // of the symmetric matrix, of which D stores one half
        shaped<3>(matrices, {nodes, nodes, elements})(i, j, e) = G(q, i, x) * D(q, entry(x, y), e) * G(q, j, y);
        return matrices;
    }
    for (int row = 0; row < dimension; ++row)
        for (int column = 0; column < dimension; ++column) {
            std::array<const matrix*, 3> left{&basis.B, &basis.B, &basis.B}, right = left;
            left[row] = right[column] = &basis.G;
            add_term(left, right, dimension, elements, metric, symmetric[row + dimension * column], numbers,
                     matrices);
        }
    return matrices;
}

} // namespace fem
