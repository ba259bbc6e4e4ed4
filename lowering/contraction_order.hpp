// contraction_order: in which order to contract the factors of a product, pair by pair.
#pragma once

#include "lowering/statement.hpp"

#include <bitset>
#include <vector>

namespace ricci::lowering {

using label_set = std::bitset<max_labels>;

/// The product of the extents of the axes in the set.
double size_of(const label_set& labels, const std::vector<double>& extents);

/// Contracts items left and right (right < 0: sums axes that only left has). Items are numbered: first the leaves,
/// then the results of the pairs in order.
struct contracted_pair {
    int left = -1, right = -1;
    label_set result; ///< the axes that remain
};

struct pair_order {
    std::vector<contracted_pair> pairs;
    int leaves = 0;
    double flops = 0, bytes = 0;
};

/// Two axes along which the whole product is symmetric, and its axes: a last pair of which either has one of the two
/// takes this share of its flops.
struct mirrored_axes {
    int first = -1, second = -1;
    double share = 1;
    label_set whole;
};

/// Along which axis an operand's neighbors in memory lie; -1: not known, or none of its own.
struct neighbor_axes {
    std::vector<int> factors;
    int result = -1;
    /// of each factor all its axes, the nearest in memory first; empty where it does not matter
    std::vector<std::vector<int>> by_stride{};
};

/// The cheapest order (flops, then bytes of operands and results) for factors with these axes, of which `kept`
/// remain. Exact for up to 12 factors (dynamic programming over subsets, 3^f splits), greedy by least flops above.
pair_order contraction_order(const std::vector<label_set>& factors, const label_set& kept,
                             const std::vector<double>& extents, double element_bytes,
                             const mirrored_axes& mirrored = {});

/// An order that was made for factors with these axes, with its flops and bytes at other extents.
pair_order at_extents(pair_order order, const std::vector<label_set>& factors, const std::vector<double>& extents,
                      double element_bytes, const mirrored_axes& mirrored = {});

/// Of orders of a product that makes values at points, multiplies them there and sums them again, which cost the
/// same: one that neither begins along the axis of the first factor's neighbors nor ends along the result's. A thread
/// of a chain takes what lies along the axis of a contraction, and the threads beside it then take neighbors:
/// gathered and scattered numbers lie on fewer lines of memory (mass of global vectors on an H100: 4 to 8 % less
/// time). And one that multiplies along the axis along which the points' factor lies farthest apart: the threads take
/// neighbors of it, on different banks. Products that go one way keep their order: phases of other steps fit it
/// (diffusion took up to 8 % more).
pair_order along_other_axes(const pair_order& order, const std::vector<label_set>& factors, const label_set& kept,
                            const std::vector<double>& extents, double element_bytes, const mirrored_axes& mirrored,
                            const neighbor_axes& neighbors);

} // namespace ricci::lowering
