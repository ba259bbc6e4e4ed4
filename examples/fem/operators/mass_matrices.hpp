// mass_matrices: the mass matrices of all elements of a mesh, by one ricci statement.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/space/tables.hpp"

#include <ricci/ricci.hpp>

#include <cstdint>
#include <vector>

namespace fem {

/// The integral of phi_i*phi_j over element e, for the Lagrange polynomials phi of order p with nodes at the
/// Gauss-Lobatto points:
///
///     M(i,j,e) = B(q,i)*W(q,e)*B(q,j)
///
/// B(q,i) is phi_i at quadrature point q of the reference element, W(q,e) the point's weight times the determinant of
/// element e's Jacobian matrix there. Nodes i, j and points q are lexicographic, x first.
class mass_matrices {
  public:
    /// Basis order p >= 1, q >= 1 Gauss-Legendre points in each direction. Throws mesh_error for an inverted element,
    /// not_enough_memory where the machine has not the memory.
    mass_matrices(const mesh& m, int p, int q, ricci::device device);

    /// Computes M. On a GPU it returns before M is there.
    void assemble();

    /// The matrices, [n][n][elements].
    const ricci::tensor<double, ricci::dyn, ricci::dyn, ricci::dyn>& matrices() const { return m_; }

    /// The domain's volume (area in 2-D): the sum of W.
    double volume() const { return volume_; }
    /// The same from the matrices: basis functions sum to 1, so all entries of an element's matrix sum to its volume.
    double volume_by_matrices() const;
    /// The relative difference of the two that rounding allows: some roundings for each term of the sums over q, i
    /// and j.
    double rounding() const;

    std::int64_t nodes() const { return b_.extent(1); }  ///< of one element
    std::int64_t points() const { return b_.extent(0); } ///< of one element
    double bytes() const;                                ///< that have to be moved: B and W read once, M written once
    double flops() const; ///< of the sum over q, with B(q,i)*B(q,j) formed once for all elements

  private:
    matrix b_;
    vector w_;
    ricci::tensor<double, ricci::dyn, ricci::dyn, ricci::dyn> m_;
    double volume_ = 0;
};

} // namespace fem
