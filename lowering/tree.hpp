// tree: what the passes ask of a step's nodes.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// The nodes under `root`, children first, root last.
std::vector<node> subtree(const std::vector<node>& nodes, std::int32_t root);

/// Removes operands that no node reads and axes that nothing names, and renumbers the rest.
void prune(step& st);

/// The same with its beta, if it has one, as part of its tree: C = beta*C + ...
step with_beta_in_tree(step st);

/// A sum's term at a node; one that is subtracted is negative.
struct signed_term {
    std::int32_t node;
    bool negative;
};

/// The terms that sums, differences and negations at `root` are made of, in their order; all of the other sign if
/// `negative`.
std::vector<signed_term> terms_of(const std::vector<node>& nodes, std::int32_t root, bool negative = false);

/// coefficient * sum over axes of x * y, where x and y are accesses or their conjugates. What is absent is -1.
struct matrix_product {
    std::int32_t coefficient = -1; ///< root of a subtree without accesses
    bool negative = false;
    std::int32_t x = -1, y = -1; ///< operands; y is -1 for a single access
    bool x_conjugated = false, y_conjugated = false;
    std::int32_t sum = -1; ///< the step's list of summed axes
};

/// The subtree at `root` as a matrix product (or a single access with a coefficient), if it is one.
bool is_matrix_product(const std::vector<node>& nodes, std::int32_t root, matrix_product& out);

} // namespace ricci::lowering
