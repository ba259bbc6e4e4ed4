// problem: one convolution to be measured, by one algorithm: its statements, and what it costs at least.
#pragma once

#include "bench/conv/layers.hpp"
#include "bench/conv/minimal_filtering.hpp"
#include "bench/device_tools.hpp"
#include "bench/text_program.hpp"

#include <ricci/lowering/scalar_type.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ricci::bench::conv {

/// O(x,y,k,b) = relu(sum over s, r, c of D(x+s-1,y+r-1,c,b)*F(s,r,c,k) + bias(k)), zero around D.
struct problem {
    layer of;
    std::int64_t batch = 1;
    lowering::scalar_type type = lowering::scalar_type::f32; ///< of D, F, bias and O; sums are in f32
    /// m of F(m x m, 3 x 3), a tile's pixels along each direction that come out; 0: the direct statement.
    std::int64_t tile = 0;

    std::string algorithm() const; ///< "direct", "f4"
    /// The terms of each sum.
    std::int64_t terms() const { return of.channels * filter_side * filter_side; }
    /// Of the direct statement, whatever the algorithm, a multiplication and an addition counting two.
    double flops() const;
    /// D, F and O once each.
    double bytes() const;
};

/// The algorithms' names, "direct" first, and their tiles.
const std::vector<std::string>& algorithm_names();
std::int64_t tile_of(const std::string& algorithm);

/// The tensors of a problem, in the order of a set's addresses; the last three only where there are tiles.
///
///     D(x,y,c,b), F(s,r,c,k), bias(k), O(x,y,k,b)
///     U(c,k,u,v)      the transformed filters
///     Bt(u,p), At(a,u)
enum tensor_number : std::size_t { at_D, at_F, at_bias, at_O, at_U, at_Bt, at_At };

/// The statements: one, or three by tiles, which hand each other V and M.
text_program notation_of(const problem& p);

/// U of these filters, in the order of its memory.
std::vector<double> transformed(const problem& p, const minimal_filtering& by, const std::vector<double>& filters);

/// How far each sum may be off: as one of a matrix product with as many terms, times the growth of the tiles in both
/// directions.
error_bound bound_of(const problem& p, lowering::math_mode math);

} // namespace ricci::bench::conv
