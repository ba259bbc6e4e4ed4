// schwarz: the blocks are gathered, factored by one Cholesky call for all, and applied by three statements.
#include "examples/fem/solve/schwarz.hpp"

#include "examples/fem/operators/gather_scatter.hpp"
#include "examples/fem/operators/neighbors.hpp"
#include "examples/fem/operators/shaped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace fem {
namespace {

using namespace ricci::indices;

/// The factors of all blocks, and room for a vector of each element.
class element_blocks {
  public:
    element_blocks(const h1_space& space, const vector& matrices, const vector& free)
        : nodes_(space.nodes()), elements_(space.elements()), sharing_(space, matrices.device()),
          blocks_(assembled_blocks(space, matrices)), of_elements_(nodes_ * elements_, blocks_.device()) {
        scale(free);
        factor();
    }

    void apply(const vector& r, vector& z) {
        const auto L = shaped<3>(std::as_const(blocks_), {nodes_, nodes_, elements_});
        const auto x = shaped<2>(of_elements_, {nodes_, elements_});
        sharing_.gather(r, x);
        cholesky_solve(L(i, j, e), i, j, x(j, e));
        sharing_.scatter(x, z);
    }

  private:
    /// W A^-1 W is the inverse of A scaled by 1/W on both sides. Done to the blocks once, it need not be done to each
    /// vector.
    void scale(const vector& free) {
        const auto& device = blocks_.device();
        const auto A = shaped<3>(blocks_, {nodes_, nodes_, elements_});
        const auto x = shaped<2>(of_elements_, {nodes_, elements_});
        vector sharers(free.size(), device); // (g): how many elements have node g
        matrix count(nodes_, elements_, device), unknown(nodes_, elements_, device), root(nodes_, elements_, device);
        of_elements_.fill(1);
        sharing_.scatter(x, sharers);
        sharing_.gather(sharers, count);
        sharing_.gather(free, unknown);
        root(i, e) = unknown(i, e) * sqrt(count(i, e));
        A(i, j, e) = root(i, e) * A(i, j, e) * root(j, e);
        A(i, i, e) += count(i, e) - unknown(i, e) * count(i, e);
    }

    void factor() {
        const auto A = shaped<3>(blocks_, {nodes_, nodes_, elements_});
        const auto info = cholesky(A(i, j, e), i, j);
        const auto minors = info.download();
        const auto bad = std::find_if(minors.begin(), minors.end(), [](std::int32_t minor) { return minor != 0; });
        if (bad != minors.end())
            throw mesh_error(fmt::format("the mesh: the matrix at the nodes of element {} (counted from 0) is not "
                                         "positive definite in double precision; the element is too distorted, or "
                                         "the coefficient too large or too small",
                                         bad - minors.begin()));
    }

    std::int64_t nodes_, elements_;
    gather_scatter sharing_;
    vector blocks_;      ///< A(i,j,e), scaled; then L below the diagonal and on it
    vector of_elements_; ///< x(i,e)
};

} // namespace

linear_map additive_schwarz(const h1_space& space, const vector& element_matrices, const vector& free) {
    auto blocks = std::make_shared<element_blocks>(space, element_matrices, free);
    return [blocks](const vector& r, vector& z) { blocks->apply(r, z); };
}

void check_schwarz_memory(const h1_space& space) {
    // The elements' own matrices and the blocks, and tables of a number of 8 bytes and another for each node of each
    // neighbor: 8 and 26 of these in a regular mesh, and the element itself.
    const auto nodes = static_cast<double>(space.nodes()), elements = static_cast<double>(space.elements());
    const double neighbors = space.dimension() == 2 ? 9 : 27;
    check_memory("the mesh",
                 fmt::format("additive Schwarz with blocks of {} x {} for its {} element{}", space.nodes(),
                             space.nodes(), space.elements(), space.elements() == 1 ? "" : "s"),
                 2 * 8.0 * nodes * (nodes + 2 * neighbors) * elements);
}

} // namespace fem
