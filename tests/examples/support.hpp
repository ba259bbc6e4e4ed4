// support: meshes, reference data and plain loops that the tests of the FEM example share.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/operators/sparse_matrix.hpp"
#include "examples/fem/solve/manufactured.hpp"
#include "examples/fem/space/basis.hpp"
#include "examples/fem/space/h1_space.hpp"
#include "tests/examples/files.hpp"

#include <ricci/ricci.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fem_test {

using namespace examples_test;

/// A file of the project's own meshes.
std::string own_mesh(const std::string& name);

/// A file of the reference data in $RICCI_SHARED/data/fem: reference_file("fem", name).
std::string reference(const std::string& name);

/// The elements of an .npy file of doubles in C order.
std::vector<double> read_npy(const std::string& path);

/// The message of the mesh_error that reading `path`, and its geometry after that, throws; empty if none.
std::string complaint(const std::string& path);

/// y = A x by plain loops.
std::vector<double> product(const fem::sparse_matrix& A, const std::vector<double>& x);

/// W(q,e), the weights times the determinants, by the statements of element_map, on the host.
std::vector<double> weighted_determinants(const fem::mesh& m, const fem::rule& along,
                                          ricci::device device = ricci::cpu());

/// W(q,e), the weights times the determinants, by plain loops: what the statements of element_map must give.
std::vector<double> plain_weights(const fem::mesh& m, const fem::rule& along);

/// A function at the nodes of a space.
std::vector<double> nodal(const fem::mesh& from, const fem::h1_space& space,
                          const std::function<double(const fem::point&)>& f);

/// The sum of all weighted determinants.
double volume(const fem::mesh& m, int quadrature);

/// The square root of the integral of u^2, u the known function, by so many Gauss points in each direction.
double l2_norm(const fem::mesh& m, const fem::manufactured& known, int points);

/// M(i,j,e) = B(q,i)*W(q,e)*B(q,j) by plain loops, for basis order p and q points in each direction.
std::vector<double> element_masses(const fem::mesh& m, int p, int q);

/// The largest distance, over all elements, of a node from where a straight-sided element has it: between its
/// corners.
double distance_from_straight(const fem::mesh& m);

/// The rows of a CSV file of the reference data, each by the names in its first line; a field may stand in quotes.
std::vector<std::map<std::string, std::string>> read_csv(const std::string& path);

} // namespace fem_test
