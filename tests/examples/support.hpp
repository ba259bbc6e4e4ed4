// support: files, reference data and plain loops that the tests of the examples share.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/operators/sparse_matrix.hpp"
#include "examples/fem/solve/manufactured.hpp"
#include "examples/fem/space/basis.hpp"
#include "examples/fem/space/h1_space.hpp"

#include <ricci/ricci.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fem_test {

/// A file of the project's own meshes.
std::string own_mesh(const std::string& name);

/// A file of the reference data, which lies in $RICCI_SHARED/data/fem, by default in the folder `shared` beside the
/// checkout. Empty, after a warning that the test is skipped, when there are none; an error when this file is
/// missing. Cases that need them have the tag [reference], those that need a program one of its name: each tag is a
/// test of ctest, which says that it was skipped where none of its cases could run.
std::string reference(const std::string& name);

/// The command of a Python that has a module. Empty, after a warning that the test is skipped, when there is none.
std::string python_with(const std::string& module);

/// The elements of an .npy file of doubles in C order.
std::vector<double> read_npy(const std::string& path);

/// A folder of its own for files that a test makes, removed with the object.
class scratch {
  public:
    scratch();
    ~scratch();
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    /// Writes a file and returns its path.
    std::string write(const std::string& name, std::string_view content) const;

  private:
    std::filesystem::path folder_;
};

std::string read_file(const std::string& path);

/// Replaces the first occurrence of `old`, which must be there.
std::string replaced(std::string text, std::string_view old, std::string_view with);

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

struct outcome {
    int exit_code = -1;
    std::string output; ///< of both streams
};

/// Runs a program, given with its arguments as a shell takes them, on the CPU.
outcome run_program(const std::string& command);

} // namespace fem_test
